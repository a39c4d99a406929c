import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lifetime } from '#test/support/berth.ts'

const mebibyte = 1024 ** 2

/** Makes a file of 1 GiB whose parts differ from one another; it goes with the lifetime. @returns its path */
export async function largeFile(lifetime: Lifetime, name: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-large-'))
  lifetime.after(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, name)
  const part = randomBytes(mebibyte)
  await using handle = await open(file, 'w')
  for (let index = 0; index < 1024; index += 1) {
    part.writeUInt32BE(index)
    await handle.writeFile(part)
  }
  return file
}

/** @returns the SHA-256 of a file in hexadecimal */
export async function fingerprintOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of createReadStream(file, { highWaterMark: mebibyte })) hash.update(part as Buffer)
  return hash.digest('hex')
}
