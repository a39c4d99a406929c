import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { ServerChannel } from 'ssh2'
import { ProgramChannel } from './program-channel.ts'
import { windowFrame } from './session-frames.ts'

// 400,000 of them took the process of SSH up by 217 MB.
test('sizes and signals for a program that does not read take no memory, and it learns the last size', async () => {
  const socket = new Socket()
  const channel = Object.assign(new PassThrough(), { stderr: new PassThrough() })
  const host = { socket, queued: () => 0, touch: () => undefined }
  const read: Buffer[] = []
  let readNext: (() => void) | undefined
  const stream = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _, next) => {
      read.push(bytes)
      readNext = next
    },
  })
  const program = new ProgramChannel(host, channel as unknown as ServerChannel)
  const ended = new Promise<never>(() => undefined)
  void program.run({ stream, ended }, Buffer.alloc(64 * 1024), { lost: 'lost', missing: 'missing' })
  for (let columns = 1; columns <= 1_000; columns++) program.resize(columns, 50)
  for (let sent = 0; sent < 100_000; sent++) program.signal('WINCH')
  assert.ok(stream.writableLength < 512 * 1024, `${stream.writableLength} bytes wait`)
  const last = windowFrame(1_000, 50)
  while (!read.some((bytes) => bytes.equals(last))) {
    readNext?.()
    await new Promise(setImmediate)
  }
  stream.destroy()
  channel.destroy()
  socket.destroy()
})

// The engine's words begin as a frame of output does, and would be one of a gigabyte.
test('words of an engine that has no tool to start are not shown as output', async () => {
  const socket = new Socket()
  const channel = Object.assign(new PassThrough(), { stderr: new PassThrough(), exit: () => undefined })
  const host = { socket, queued: () => 0, touch: () => undefined }
  const program = new ProgramChannel(host, channel as unknown as ServerChannel)
  const stream = new PassThrough()
  stream.end('OCI runtime exec failed: exec failed: unable to start container process')
  const ended = Promise.resolve({ code: 127, errors: '' })
  // What is sent to the tool is not to come back from it.
  const answers = Duplex.from({ readable: stream, writable: new PassThrough().resume() })
  await program.run({ stream: answers, ended }, Buffer.alloc(1), { lost: 'lost', missing: 'missing' })
  assert.equal(channel.read(), null)
  assert.equal(String(channel.stderr.read()), '\r\nBerth: missing\r\n')
  socket.destroy()
})
