import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { FaultProxy } from './fault-proxy.ts'
import { waitLimit } from '#test/support/extent.ts'

// A chaos run killed Berth while it read an archive. The engine never heard of it, waited to write the rest, and held the
// container: its removal hung for every process after that.
test('an engine hears that the reader of an archive is gone', { timeout: waitLimit(10_000) }, async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-engine-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const socket = path.join(folder, 'engine.sock')
  const gone = Promise.withResolvers<void>()
  const engine = createServer((_, answer) => {
    answer.on('close', gone.resolve)
    const fill = () => {
      while (answer.write(Buffer.alloc(65_536)));
    }
    answer.on('drain', fill)
    fill()
  }).listen(socket)
  await once(engine, 'listening')
  t.after(() => engine.close())
  const proxy = await FaultProxy.begin(`unix://${socket}`)
  t.after(() => proxy.close())

  const reader = request({
    socketPath: proxy.address.slice('unix://'.length),
    path: '/containers/a/archive?path=/home',
  })
  reader.on('error', () => undefined)
  reader.end()
  const [answer] = await once(reader, 'response')
  await once(answer, 'data')
  reader.destroy()
  await gone.promise
})
