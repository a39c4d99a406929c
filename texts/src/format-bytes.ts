import { message, type LocalizedMessage } from './localized-message.ts'

const [MiB, GiB] = [1024 ** 2, 1024 ** 3]

/** A number of bytes as people read it: `312 MiB`, `1.5 GiB`. */
export const formatBytes = (bytes: number): LocalizedMessage =>
  bytes >= GiB ? message('words.gib', { count: bytes / GiB }) : message('words.mib', { count: Math.round(bytes / MiB) })
