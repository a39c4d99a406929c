import { message, type Message } from '#/messages/message.ts'

const [MiB, GiB] = [1024 ** 2, 1024 ** 3]

/** A number of bytes as people read it: `312 MiB`, `1.5 GiB`. */
export const bytesInWords = (bytes: number): Message =>
  bytes >= GiB ? message('words.gib', { count: bytes / GiB }) : message('words.mib', { count: Math.round(bytes / MiB) })
