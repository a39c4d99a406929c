import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { backupName, manifestName, sumsName, sumsOf, type Part } from './backup-format.ts'
import { roomOn } from '@berth/server/machine/disk-room.ts'
import type { BackupTarget } from './backup-target.ts'
import { writePart } from './write-part.ts'

type Bytes = AsyncIterable<Uint8Array>

/** Bytes of a block of a tar archive. */
const block = 512

/**
 * Writes a backup as one tar archive (POSIX ustar) to a stream, with the same files as a folder has. Each part is spooled
 * before, because its size comes first in a tar archive.
 * @param spool an existing folder on the disk of the store, to which homes leave its room @param room for tests
 */
export function streamTarget(
  output: Writable,
  spool: string,
  encrypt: (content: Bytes) => Bytes,
  now = new Date(),
  room = roomOn,
): BackupTarget {
  const root = backupName(now)
  const emit = (content: Bytes) => writeAll(output, content)
  const emitText = (name: string, text: string) => {
    const bytes = Buffer.from(text)
    return emit(entry(`${root}/${name}`, bytes.length, now, Readable.from([bytes])))
  }
  return {
    add: async ({ kind, file, home, content }, signal) => {
      const spooled = path.join(spool, 'part')
      try {
        const written = await writePart(spooled, content, encrypt, signal, kind === 'home' ? room : undefined)
        await emit(entry(`${root}/${file}`, written.bytes, now, createReadStream(spooled)))
        return { kind, file, ...(home ? { home } : {}), ...written } satisfies Part
      } finally {
        await rm(spooled, { force: true })
      }
    },
    finish: async (manifest) => {
      const text = `${JSON.stringify(manifest, undefined, 2)}\n`
      await emitText(manifestName, text)
      await emitText(sumsName, sumsOf(text, manifest.parts))
      await emit(Readable.from([Buffer.alloc(2 * block)]))
      return 'standard output'
    },
    discard: async () => {},
  }
}

/**
 * Not `pipeline`, which leaves its listeners at standard output: Node warned of a leak from the sixth file on.
 * @throws when the stream ends before everything is written
 */
async function writeAll(output: Writable, content: Bytes): Promise<void> {
  for await (const bytes of content)
    await new Promise<void>((done, fail) => output.write(bytes, (error) => (error ? fail(error) : done())))
}

async function* entry(name: string, size: number, time: Date, content: Bytes): AsyncGenerator<Uint8Array> {
  yield headerOf(name, size, time)
  yield* content
  yield Buffer.alloc((block - (size % block)) % block)
}

/** Header of a regular file. Source: POSIX.1-2017, pax, "ustar Interchange Format"; sizes above 8 GiB as GNU tar. */
function headerOf(name: string, size: number, time: Date): Buffer {
  const header = Buffer.alloc(block)
  const split = name.length <= 100 ? 0 : name.lastIndexOf('/') + 1
  header.write(name.slice(split), 0, 100)
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  if (size < 8 * 1024 ** 3) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  else {
    header.writeBigUInt64BE(BigInt(size), 128)
    header[124] = 0x80
  }
  header.write(
    `${Math.floor(time.getTime() / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  )
  header.write('        0', 148)
  header.write('ustar\u000000', 257)
  header.write(name.slice(0, Math.max(0, split - 1)), 345, 155)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
