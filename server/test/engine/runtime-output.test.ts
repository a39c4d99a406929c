// Part of npm run test:more: the port by itself; control-plane/logs.test.ts reads logs through it.
import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, suite, test } from 'node:test'
import type { RuntimeCapabilities } from '#/engines/runtime.ts'
import { waitLimit } from '../support/extent.ts'
import { contractRuntimes, eventually, look, ofKind, shell, touch } from '../support/engine/runtimes.ts'

/** Contract of the `Runtime` interface, held against every implementation with a real engine: output of containers. */
for (const open of contractRuntimes) {
  const rig = await open()
  const { runtime, spec, run } = rig
  const needs = (capability: keyof RuntimeCapabilities) => ({
    skip: !runtime.capabilities[capability] && `${rig.name} has no ${capability}`,
  })

  suite(`output of a runtime: ${rig.name}`, { concurrency: 4 }, () => {
    after(() => rig.close())

    test('the last lines of both outputs are reported in order, also after the end', async () => {
      const says = 'echo one; sleep 0.2; echo two >&2; sleep 0.2; printf "three\\nfour"; exit 1'
      const { id } = await run('talker', { command: ['/bin/sh', '-c', says] })
      await eventually(async () => assert.equal((await look(runtime, id)).state, 'exited'))
      assert.deepEqual(await runtime.logs(id, 10), ['one', 'two', 'three', 'four'])
      assert.deepEqual(await runtime.logs(id, 2), ['three', 'four'])
      assert.deepEqual(await runtime.logs(id, 0), [])
      await runtime.remove(id)
      assert.deepEqual(await runtime.logs(id, 10), [])
      assert.deepEqual(await runtime.logs('../info', 10), [])
    })

    test('what never ran has written nothing', needs('keepsStopped'), async () => {
      const { id } = await runtime.create(spec('mute'))
      assert.deepEqual(await runtime.logs(id, 10), [])
    })

    test('a line is reported as text of at most 500 characters, without colours and other control characters', async () => {
      const says = `printf '\\033[31mred\\033[0m\\ttab\\r\\a\\000 \\342\\202\\254 \\377\\n'; head -c 40000 /dev/zero | tr '\\0' x; echo`
      const { id } = await run('gaudy', shell(says))
      await eventually(async () => assert.deepEqual(await runtime.logs(id, 10), ['red\ttab € \ufffd', 'x'.repeat(500)]))
    })

    test('of an app that writes more than 64 KiB at once the last lines are reported', async () => {
      const says =
        'for i in 1 2 3 4 5 6 7 8; do head -c 16000 /dev/zero | tr "\\0" $i; echo; done; echo and this is why'
      const { id } = await run('wordy', shell(says))
      await eventually(async () => assert.equal((await runtime.logs(id, 1))[0], 'and this is why'))
      const told = await runtime.logs(id, 8)
      assert.equal(told.at(-1), 'and this is why')
      assert.equal(told.at(-2), '8'.repeat(500))
      assert.ok(told.length < 6, String(told.length))
    })

    test('following logs gives the last lines, then each new line of both outputs, until the program ends', async () => {
      const says =
        'echo one; echo two; echo three; nc -l -p 8080; echo four; sleep 0.2; echo five >&2; sleep 0.2; echo six'
      const { id, address, port } = await run('chatty', { command: ['/bin/sh', '-c', says] })
      await eventually(async () => assert.equal((await runtime.logs(id, 9)).length, 3))
      const heard: string[] = []
      const following = runtime.followLogs(id, 2, (line) => void heard.push(line), new AbortController().signal)
      await eventually(() => assert.deepEqual(heard, ['two', 'three']))
      await eventually(() => touch(address ?? '', port ?? 0))
      await following
      assert.deepEqual(heard, ['two', 'three', 'four', 'five', 'six'])
      const again: string[] = []
      await runtime.followLogs(id, 2, (line) => void again.push(line), new AbortController().signal)
      assert.deepEqual(again, ['five', 'six'])
    })

    test('a program that is run beside has input, output and a code, and sees the end of its connection', async () => {
      const { id } = await run('host', shell('echo up'))
      const away = AbortSignal.timeout(waitLimit(60_000))
      const command = [
        '/bin/sh',
        '-c',
        'read line; echo "$line"; head -c 3000000 /dev/zero; echo no >&2; exit 7',
      ] as const
      const talk = await runtime.exec(id, command, away)
      talk.stream.write('hello\n')
      const said = await buffer(talk.stream)
      assert.equal(said.length, 3_000_006)
      assert.equal(said.subarray(0, 6).toString(), 'hello\n')
      assert.deepEqual(await talk.ended, { code: 7, errors: 'no\n' })
      const none = await runtime.exec(id, ['/no/such/program'], away)
      none.stream.resume()
      const { code } = await none.ended
      assert.ok(code === 126 || code === 127 || code === null, String(code))
      const left = await runtime.exec(id, ['/bin/sh', '-c', 'cat > /tmp/said; echo over >> /tmp/said'], away)
      left.stream.write('first\n')
      await eventually(async () => assert.equal(await outputOf('cat /tmp/said'), 'first\n'))
      left.stream.destroy()
      assert.deepEqual(await left.ended, { code: null, errors: '' })
      await eventually(async () => assert.equal(await outputOf('cat /tmp/said'), 'first\nover\n'))
      await assert.rejects(rig.neighbour.exec(id, ['true'], away), ofKind('missing'))
      await runtime.stop(id)
      await assert.rejects(
        runtime.exec(id, ['true'], away),
        ofKind(runtime.capabilities.keepsStopped ? 'conflict' : 'missing'),
      )

      async function outputOf(script: string) {
        const { stream } = await runtime.exec(id, ['/bin/sh', '-c', script], away)
        return (await buffer(stream)).toString()
      }
    })

    test('following ends when the container is removed, and when its signal is aborted', async () => {
      const { id } = await run('steady', shell('echo up'))
      const away = new AbortController()
      const heard: string[] = []
      const [one, other] = [away.signal, new AbortController().signal].map((signal) =>
        runtime.followLogs(id, 5, (line) => void heard.push(line), signal),
      )
      await eventually(() => assert.deepEqual(heard, ['up', 'up']))
      away.abort()
      await one
      await runtime.remove(id)
      await other
      await assert.rejects(
        runtime.followLogs(id, 5, () => undefined, new AbortController().signal),
        ofKind('missing'),
      )
    })

    test(
      'following a container that never ran ends at once; following a silent app waits',
      needs('keepsStopped'),
      async () => {
        const { id } = await runtime.create(spec('unborn'))
        const heard: string[] = []
        const limit = AbortSignal.timeout(20_000)
        await runtime.followLogs(id, 5, (line) => void heard.push(line), limit)
        assert.equal(limit.aborted, false)
        const mute = await run('speechless')
        await runtime.followLogs(mute.id, 5, (line) => void heard.push(line), AbortSignal.timeout(4_000))
        assert.deepEqual(heard, [])
      },
    )

    test('a slow listener gets one line after the other, and can leave in between', async () => {
      const says = 'i=0; while [ $i -lt 20 ]; do echo $i; i=$((i+1)); done'
      const { id } = await run('patient', shell(says))
      let busy = 0
      const heard: string[] = []
      const away = new AbortController()
      const listen = async (line: string) => {
        assert.equal(busy++, 0)
        heard.push(line)
        await new Promise((resolve) => setTimeout(resolve, 5))
        busy--
        if (line !== '19') return
        setTimeout(() => away.abort(), 50)
        await new Promise(() => undefined)
      }
      await runtime.followLogs(id, 20, listen, away.signal)
      assert.deepEqual(
        heard,
        Array.from({ length: 20 }, (_, index) => String(index)),
      )
    })
  })
}
