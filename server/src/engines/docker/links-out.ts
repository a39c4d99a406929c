import path from 'node:path'
import type { TarHeader } from 'modern-tar'
import { leftOut, pathIn, rewrittenArchive } from '#/engines/transport/rewrite-archive.ts'

/** Whether a home has a symbolic link that leads out of it by a relative path. Reads the archive to its end. */
export async function hasLinkOut(archive: AsyncIterable<Uint8Array>): Promise<boolean> {
  let isFound = false
  const headers = rewrittenArchive(archive, (header) => {
    isFound ||= leadsOut(header)
    return []
  })
  for await (const nothing of headers) void nothing
  return isFound
}

/** The archive of a home with all entries below a folder. Sockets, pipes and devices are left out. */
export function inFolder(archive: AsyncIterable<Uint8Array>, folder: string): AsyncIterable<Uint8Array> {
  const below = (name: string) => [folder, pathIn(name)].filter(Boolean).join('/')
  const isLeftOut = leftOut()
  return rewrittenArchive(archive, (header) => {
    if (isLeftOut(header)) return []
    const { pax = {}, linkname = '', ...rest } = header
    // The rest is kept: attributes, and times with all their digits.
    const kept = Object.fromEntries(Object.entries(pax).filter(([key]) => !/^(path|linkpath|size)$/.test(key)))
    const name = below(header.name) + (header.type === 'directory' ? '/' : '')
    return [{ ...rest, name, pax: kept, linkname: header.type === 'link' ? below(linkname) : linkname }]
  })
}

function leadsOut({ type, name, linkname = '' }: TarHeader): boolean {
  if (type !== 'symlink' || linkname.startsWith('/')) return false
  const target = path.posix.join(path.posix.dirname(pathIn(name)), linkname)
  return target === '..' || target.startsWith('../')
}
