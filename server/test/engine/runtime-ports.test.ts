// Part of npm run test:more: the port by itself; ports.test.ts reaches programs through it.
import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, suite, test } from 'node:test'
import { contractRuntimes, eventually, ofKind } from '../support/engine/runtimes.ts'

/** Contract of the `Runtime` interface, held against every implementation with a real engine: ports of containers. */
for (const open of contractRuntimes) {
  const rig = await open()
  const { runtime, run } = rig
  const signal = AbortSignal.timeout(120_000)
  const httpd = (address: string) => ({ command: ['/bin/httpd', '-f', '-p', address, '-h', '/home/berth'] })

  suite(`ports of a runtime: ${rig.name}`, () => {
    after(() => rig.close())

    test('what listens is told with whether it is reached from inside alone', async () => {
      const [inside, outside] = [await run('inside', httpd('127.0.0.1:3000')), await run('outside', httpd('8080'))]
      await eventually(async () =>
        assert.deepEqual(await runtime.listening(inside.id, signal), [{ port: 3000, isLoopback: true }]),
      )
      await eventually(async () =>
        assert.deepEqual(await runtime.listening(outside.id, signal), [{ port: 8080, isLoopback: false }]),
      )
    })

    test('a program on loopback is reached, and where nothing listens that is told', async () => {
      const { id } = await run('server', httpd('127.0.0.1:3000'))
      await eventually(async () => {
        const connection = await runtime.connectToLoopback(id, 3000, signal)
        assert.notEqual(connection, 'refused')
        if (connection === 'refused') return
        connection.write('GET / HTTP/1.0\r\n\r\n')
        assert.match((await buffer(connection)).toString(), /^HTTP\/1\.\d 200 OK[^]*hello\n$/)
      })
      assert.equal(await runtime.connectToLoopback(id, 3001, signal), 'refused')
    })

    test('a container that is gone, and one that does not run, have no ports', async () => {
      const { id } = await run('short', httpd('8080'))
      await runtime.stop(id, signal, 1)
      const kinds = runtime.capabilities.keepsStopped ? ofKind('conflict') : ofKind('missing')
      await assert.rejects(runtime.listening(id, signal), kinds)
      await runtime.remove(id)
      await assert.rejects(runtime.connectToLoopback(id, 8080, signal), ofKind('missing'))
    })
  })
}
