/** What is mounted somewhere: a line of `/proc/<pid>/mountinfo`, proc_pid_mountinfo(5). */
export interface Mount {
  /** Major and minor number of the file system. */
  readonly device: string
  /** Path of what is mounted, in its file system; of NFS the kernel writes `/` for each. */
  readonly root: string
  /** Where it is mounted. */
  readonly place: string
  readonly type: string
  /** Of NFS the server and the path of what is mounted there; of others a disk, or any word. */
  readonly source: string
}

/** @param text of the whole file; lines that are none are left out */
export function mountsIn(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [mount = '', system = ''] = line.split(' - ')
    const [, , device, root, place] = mount.split(' ').map(unescape)
    const [type, source] = system.split(' ').map(unescape)
    const isWhole = device && root && place && type && source !== undefined
    return isWhole ? [{ device, root, place, type, source }] : []
  })
}

/** Space, tab, line feed and backslash are written as octal numbers. */
const unescape = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

const types = /^(nfs4?|cifs|smb3|smbfs|ceph|9p|afs|lustre|beegfs|gpfs|glusterfs|fuse(\..+)?)$/

/** Whether the answers of its file system come from a server or a program, and may not come; those of others do. */
export const isAnsweredElsewhere = ({ type }: Mount): boolean => types.test(type)
