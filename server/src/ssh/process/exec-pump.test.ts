import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { ServerChannel } from 'ssh2'
import { PacedWriter } from './exec-pump.ts'

test('of a channel that is closed nothing stays at its connection', async () => {
  const socket = new Socket()
  const before = socket.listenerCount('close')
  const host = { socket, queued: () => 0, touch: () => undefined }
  for (let n = 0; n < 3; n++) {
    const channel = new PassThrough()
    const writer = new PacedWriter(host, channel as unknown as ServerChannel)
    assert.ok(await writer.write(channel, Buffer.from('x')))
    channel.destroy()
    await once(channel, 'close')
    assert.equal(await writer.write(channel, Buffer.from('x')), false)
  }
  assert.equal(socket.listenerCount('close'), before)
  socket.destroy()
})
