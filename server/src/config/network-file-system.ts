import { statfsSync } from 'node:fs'
import path from 'node:path'

/** Types of file systems by `f_type`. Source: linux/magic.h; cifs and smb2 are two names of one protocol. */
const names: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
])

/** Name of a network file system; undefined for every other one. @param type of statfs(2) */
export const networkFileSystem = (type: number): string | undefined => names.get(type)

/**
 * Magic number of the file system of a folder, or of the one in which it would be made.
 * @returns undefined when it cannot be found out
 */
export function fileSystemMagic(folder: string): number | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at))
    try {
      return statfsSync(at).type
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || at === path.dirname(at)) return undefined
    }
}
