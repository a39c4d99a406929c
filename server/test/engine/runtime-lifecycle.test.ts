// Part of npm run test:more: the port by itself; each start, stop and removal of specification goes through it.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { RuntimeCapabilities, RuntimeEvent } from '#/engines/runtime.ts'
import { eventually, look, ofKind, contractRuntimes, read } from '../support/engine/runtimes.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { waitLimit } from '#test/support/extent.ts'

/** Contract of the `Runtime` interface, held against every implementation with a real engine: start, stop, pause, remove, watch. */
const runtimes = contractRuntimes

/**
 * A program that takes more memory than it may, after a second: the engine begins to watch the memory of what runs already,
 * and does not tell why something died before that.
 */
const greedy = { memory: 16 * 1024 ** 2, command: ['/bin/sh', '-c', 'sleep 1; tail /dev/zero'] }

for (const open of runtimes) {
  const rig = await open()
  const { runtime, spec, run } = rig
  const needs = (capability: keyof RuntimeCapabilities) => ({
    skip: !runtime.capabilities[capability] && `${rig.name} has no ${capability}`,
  })

  suite(`runtime: ${rig.name}`, { concurrency: 4 }, () => {
    after(() => rig.close())

    test('a started app answers at its address, and at none once it is stopped', needs('keepsStopped'), async () => {
      const started = await run('web')
      assert.deepEqual([started.state, started.exitCode], ['running', null])
      assert.equal(await read(started), 'hello\n')
      await runtime.stop(started.id)
      const stopped = await look(runtime, started.id)
      assert.deepEqual([stopped.state, stopped.address], ['exited', null])
      assert.equal(typeof stopped.exitCode, 'number')
    })

    test('starting makes it run from whatever state, and is done when it runs', needs('keepsStopped'), async () => {
      const { id } = await run('states')
      await runtime.start(id)
      assert.equal((await look(runtime, id)).state, 'running')
      await rig.pause(id)
      assert.equal((await look(runtime, id)).state, 'paused')
      await runtime.start(id)
      assert.equal(await read(await look(runtime, id)), 'hello\n')
      await runtime.stop(id)
      await runtime.start(id)
      assert.equal(await read(await look(runtime, id)), 'hello\n')
    })

    test('a program that was killed for want of memory says so, and no other', async () => {
      const hungry = await run('hungry', greedy)
      const killed = await run('killed', { command: ['/bin/sh', '-c', 'kill -9 $$'] })
      await eventually(async () => {
        const [starved, other] = [await look(runtime, hungry.id), await look(runtime, killed.id)]
        if (starved.state === 'exited' && !starved.isOutOfMemory && runtime.capabilities.keepsStopped)
          await runtime.start(hungry.id)
        assert.deepEqual([starved.state, starved.isOutOfMemory, starved.exitCode], ['exited', true, 137])
        assert.deepEqual([other.state, other.isOutOfMemory, other.exitCode], ['exited', false, 137])
      })
      const listed = (await runtime.list()).find(({ id }) => id === hungry.id)
      assert.deepEqual([listed?.isOutOfMemory, listed?.startedAt], [false, null])
    })

    test('the last start is reported, and a pause is none', needs('keepsStopped'), async () => {
      const before = Date.now()
      const { id, startedAt } = await run('timed')
      assert.ok(startedAt !== null && startedAt >= before && startedAt <= Date.now(), `${startedAt}`)
      await runtime.pause(id)
      await runtime.start(id)
      assert.equal((await look(runtime, id)).startedAt, startedAt)
      await runtime.stop(id)
      assert.equal((await look(runtime, id)).startedAt, startedAt)
      await runtime.start(id)
      assert.ok(((await look(runtime, id)).startedAt ?? 0) > startedAt)
    })

    test(
      'what the engine cannot do is reported as failed, and leaves no container',
      needs('keepsStopped'),
      async () => {
        const impossible = spec('impossible', { runtime: 'no-such-runtime' })
        await assert.rejects(runtime.create(impossible), ofKind('failed'))
        await assert.rejects(runtime.create(spec('a name/with?everything')), ofKind('failed'))
        assert.equal(await runtime.inspect(impossible.name), undefined)
      },
    )

    test('stopping and removing are done when they are done already', async () => {
      const { id } = await run('twice')
      await runtime.stop(id)
      await runtime.stop(id)
      await runtime.remove(id)
      await runtime.remove(id)
      await runtime.stop(id)
      assert.equal(await runtime.inspectId(id), undefined)
      await assert.rejects(runtime.start(id), ofKind('missing'))
      await assert.rejects(runtime.start('f'.repeat(64)), ofKind('missing'))
    })

    test(
      'a paused app keeps its address and answers nothing; who asked meanwhile gets the answer once it is started',
      needs('pauses'),
      async () => {
        const { id, name, address, port } = await run('iced')
        assert.equal(await read({ address, port }), 'hello\n')
        await runtime.pause(id)
        await runtime.pause(id)
        let answer = ''
        const asked = read({ address, port }).then((text) => (answer = text))
        await observationTime(300)
        assert.equal(answer, '')
        const listed = (await runtime.list()).find((each) => each.id === id)
        for (const seen of [listed, await runtime.inspect(name)])
          assert.deepEqual([seen?.state, seen?.address, seen?.exitCode], ['paused', address, null])
        await runtime.start(id)
        assert.equal(await asked, 'hello\n')
        assert.equal((await look(runtime, id)).state, 'running')
      },
    )

    test('of several simultaneous pauses, starts or stops none fails', needs('pauses'), async () => {
      const { id } = await run('tug')
      await Promise.all([runtime.pause(id), runtime.pause(id), runtime.pause(id)])
      assert.equal((await look(runtime, id)).state, 'paused')
      await Promise.all([runtime.start(id), runtime.start(id), runtime.start(id)])
      assert.equal((await look(runtime, id)).state, 'running')
      await runtime.pause(id)
      await Promise.all([runtime.stop(id), runtime.start(id)])
      await runtime.start(id)
      assert.equal((await look(runtime, id)).state, 'running')
    })

    test('what does not run cannot be paused, nor what is gone', needs('pauses'), async () => {
      const { id } = await runtime.create(spec('limp'))
      await assert.rejects(runtime.pause(id), ofKind('failed'))
      await runtime.start(id)
      await runtime.stop(id)
      await assert.rejects(runtime.pause(id), ofKind('failed'))
      assert.equal((await look(runtime, id)).state, 'exited')
      await runtime.remove(id)
      await assert.rejects(runtime.pause(id), ofKind('missing'))
      await assert.rejects(runtime.pause('../info'), ofKind('missing'))
    })

    test('a paused program can be stopped or removed as quickly as a running one', needs('pauses'), async () => {
      const [paused, doomed] = await Promise.all([run('frozen'), run('doomed')])
      await Promise.all([runtime.pause(paused.id), runtime.pause(doomed.id)])
      const began = performance.now()
      await Promise.all([runtime.stop(paused.id), runtime.remove(doomed.id)])
      // Before the engine kills it.
      assert.ok(performance.now() - began < waitLimit(9_000))
      const stopped = await look(runtime, paused.id)
      // It got its signal; one that does not is killed (128 + SIGKILL) after 10 s.
      assert.notEqual(stopped.exitCode, 137)
      assert.deepEqual([stopped.state, stopped.address], ['exited', null])
      assert.equal(await runtime.inspectId(doomed.id), undefined)
    })

    test('a running program can be removed', async () => {
      const running = await run('felled')
      await runtime.remove(running.id)
      assert.equal(await runtime.inspect(running.name), undefined)
    })

    test(
      'what runs or is paused is not removed where only what is stopped may be, and the end of its last run is reported',
      needs('pauses'),
      async () => {
        const { id, endedAt } = await run('busy')
        assert.equal(endedAt, null)
        await assert.rejects(runtime.removeStopped(id), ofKind('conflict'))
        await runtime.pause(id)
        await assert.rejects(runtime.removeStopped(id), ofKind('conflict'))
        const before = Date.now()
        await runtime.stop(id)
        const stopped = await look(runtime, id)
        assert.ok(stopped.endedAt !== null && stopped.endedAt >= before - 1, `${stopped.endedAt}`)
        await runtime.removeStopped(id)
        assert.equal(await runtime.inspectId(id), undefined)
        await runtime.removeStopped(id)
      },
    )

    test('a program that will not end is ended after 10 s', needs('keepsStopped'), async () => {
      const command = ['/bin/sh', '-c', 'trap "" TERM; echo trapped; while :; do sleep 1; done']
      const { id } = await run('stubborn', { command })
      // The signal ended the shell before it had set its trap when the machine was busy.
      await eventually(async () => assert.deepEqual(await runtime.logs(id, 1), ['trapped']))
      const asked = performance.now()
      await runtime.stop(id)
      const took = performance.now() - asked
      assert.equal((await look(runtime, id)).state, 'exited')
      assert.ok(took > 9_000 && took < waitLimit(40_000), `${took} ms`)
    })

    test('two who remove the same container both find it gone', async () => {
      const { id } = await run('contested')
      await Promise.all([runtime.remove(id), runtime.remove(id), runtime.remove(id)])
      assert.equal(await runtime.inspectId(id), undefined)
    })

    test(
      'a watcher receives a stop from outside, and nothing after it has unsubscribed',
      needs('keepsStopped'),
      async (t) => {
        const { id } = await run('watched')
        const away = new AbortController()
        t.after(() => away.abort())
        const heard: RuntimeEvent[] = []
        runtime.watch((event) => void heard.push(event), away.signal)
        // There is no sign that listening has begun, so something has to happen until it is heard.
        await eventually(async () => {
          await runtime.stop(id)
          await runtime.start(id)
          assert.ok(heard.some((event) => event.id === id))
        })
        const before = heard.length
        await rig.stopFromOutside(id)
        await eventually(() => assert.ok(heard.slice(before).some((event) => event.id === id)))
        away.abort()
        const after = heard.filter((event) => event.id === id).length
        await runtime.start(id)
        await runtime.stop(id)
        assert.equal(heard.filter((event) => event.id === id).length, after)
      },
    )

    test('a watcher receives events in order', needs('pauses'), async (t) => {
      const away = new AbortController()
      t.after(() => away.abort())
      const heard: RuntimeEvent[] = []
      runtime.watch((event) => void heard.push(event), away.signal)
      const bell = await runtime.create(spec('bell'))
      await eventually(async () => {
        await runtime.start(bell.id)
        await runtime.stop(bell.id)
        assert.ok(heard.some(({ id }) => id === bell.id))
      })
      const { id } = await run('life')
      await runtime.pause(id)
      await runtime.start(id)
      await runtime.stop(id)
      await runtime.remove(id)
      // Once each: after an interruption, as of a busy engine, the events of the last second are sent again.
      const actions = () => [
        ...new Set(heard.filter((event) => event.id === id && event.action !== 'other').map(({ action }) => action)),
      ]
      await eventually(() => assert.deepEqual(actions(), ['start', 'pause', 'unpause', 'die', 'destroy']))
      const hungry = await run('hungrier', greedy)
      await eventually(async () => {
        await runtime.start(hungry.id)
        assert.ok(heard.some((event) => event.id === hungry.id && event.action === 'oom'))
      })
      away.abort()
    })

    test('an inspect after the event of an end finds no address', needs('keepsStopped'), async (t) => {
      const away = new AbortController()
      t.after(() => away.abort())
      const found: unknown[] = []
      const { id } = await runtime.create(spec('mortal'))
      runtime.watch(async (event) => {
        if (event.id !== id || event.action !== 'die') return
        const { state, address } = await look(runtime, id)
        found.push([state, address])
      }, away.signal)
      await eventually(async () => {
        await runtime.start(id)
        await runtime.stop(id)
        assert.ok(found.length >= 3)
      })
      away.abort()
      for (const seen of found) assert.deepEqual(seen, ['exited', null])
    })

    test('a call whose signal is already aborted changes nothing', async () => {
      const { id } = await run('given-up')
      const gaveUp = AbortSignal.abort(new Error('the person left'))
      for (const attempt of [
        () => runtime.create(spec('never'), { signal: gaveUp }),
        () => runtime.start(id, gaveUp),
        () => runtime.pause(id, gaveUp),
        () => runtime.stop(id, gaveUp),
        () => runtime.remove(id, gaveUp),
      ])
        await assert.rejects(attempt, /the person left/)
      assert.equal((await look(runtime, id)).state, 'running')
      assert.equal(await runtime.inspect(`${rig.installation}-never`), undefined)
    })
  })
}
