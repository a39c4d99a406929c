// Part of npm run test:more: the port by itself; specification creates, finds and lists by it.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { RuntimeCapabilities } from '#/engines/runtime.ts'
import { askEngine, buildImage } from '../support/engine/engine.ts'
import { createAndStart, eventually, look, ofKind, contractRuntimes, read, shell } from '../support/engine/runtimes.ts'

/** Contract of the `Runtime` interface, held against every implementation with a real engine: names, homes, lists. */
const runtimes = contractRuntimes

for (const open of runtimes) {
  const rig = await open()
  const { runtime, neighbour, spec, run } = rig
  const needs = (capability: keyof RuntimeCapabilities) => ({
    skip: !runtime.capabilities[capability] && `${rig.name} has no ${capability}`,
  })

  suite(`runtime: ${rig.name}`, { concurrency: 4 }, () => {
    after(() => rig.close())

    test('making ready can be repeated, also by two at the same moment', async () => {
      await Promise.all([runtime.prepare(), runtime.prepare(), runtime.ping()])
      await runtime.prepare()
    })

    test('a new container does not run, and carries whose it is', needs('keepsStopped'), async () => {
      const owner = { userId: 7, slug: 'new', type: 'prod' }
      const { id, port } = await runtime.create(spec('new', { owner, fingerprint: 'abc' }))
      const unknown = { address: null, exitCode: null, isOutOfMemory: false, startedAt: null, endedAt: null }
      const imageId = await runtime.imageId(spec('new').image)
      assert.ok(imageId)
      const expected = {
        id,
        imageId,
        name: `${rig.installation}-new`,
        owner,
        state: 'created',
        port,
        fingerprint: 'abc',
        templateVersion: undefined,
        ...unknown,
      }
      assert.equal(port, 8080)
      assert.deepEqual(await runtime.inspect(`${rig.installation}-new`), expected)
      assert.deepEqual(await runtime.inspectId(id), expected)
    })

    test(
      'a container stays of the image that it was made from when the name is given to another',
      needs('hasImages'),
      async (t) => {
        const image = `${rig.installation}:moves`
        const build = (label: string) => buildImage(image, `FROM ${spec('moves').image}\nLABEL built=${label}\n`)
        assert.equal(await runtime.imageId(image), undefined)
        await build('once')
        t.after(() => askEngine('DELETE', `/images/${image}`, { query: { force: 'true' } }))
        const before = await runtime.imageId(image)
        const { id } = await runtime.create(spec('moves', { image }))
        await build('twice')
        assert.notEqual(await runtime.imageId(image), before)
        assert.equal((await runtime.inspectId(id))?.imageId, before)
        assert.equal((await runtime.list()).find((each) => each.id === id)?.imageId, before)
      },
    )

    test('a name finds its own container only: no longer name, no beginning of an id, no id', async () => {
      const { id, name } = await run('x2')
      assert.equal(await runtime.inspect(name.slice(0, -1)), undefined)
      assert.equal(await runtime.inspect(id.slice(0, 12)), undefined)
      assert.equal(await runtime.inspect(id.slice(0, 2)), undefined)
      assert.equal(await runtime.inspect(id), undefined)
      assert.equal(await runtime.inspectId(id.slice(0, 12)), undefined)
      assert.equal(await runtime.inspectId(name), undefined)
    })

    test('a name that begins the ids of several containers finds none of them', needs('keepsStopped'), async () => {
      const beginnings = new Map<string, string>()
      // At the 257th at the latest; mostly at the twentieth.
      for (let count = 0; beginnings.size === count; count++) {
        const { id } = await runtime.create(spec(`many-${count}`))
        beginnings.set(id.slice(0, 2), id)
        if (beginnings.size === count) assert.equal(await runtime.inspect(id.slice(0, 2)), undefined)
      }
    })

    test('what could be read as another question finds nothing', async () => {
      for (const name of ['', '..', '../json', 'a/b', 'a?b', 'a%2fb', 'ä', ' '])
        assert.equal(await runtime.inspect(name), undefined, name)
    })

    test('a name is given once: of six who ask at once one gets it', async () => {
      const attempts = await Promise.allSettled(Array.from({ length: 6 }, () => runtime.create(spec('once'))))
      const refused = attempts.filter((each) => each.status === 'rejected')
      assert.equal(refused.length, 5)
      for (const { reason } of refused) assert.ok(ofKind('conflict')(reason), String(reason))
      assert.ok(await runtime.inspect(`${rig.installation}-once`))
    })

    test('a container of another installation has no owner here, and stays as it is', needs('pauses'), async () => {
      const theirs = await createAndStart(neighbour, spec('theirs', shell('echo their secret')))
      const seen = await runtime.inspect(theirs.name)
      assert.deepEqual(
        [seen?.id, seen?.owner, seen?.port, seen?.fingerprint, seen?.state],
        rig.seesOthers
          ? [theirs.id, null, null, null, 'running']
          : [undefined, undefined, undefined, undefined, undefined],
      )
      await assert.rejects(runtime.create(spec('theirs')), ofKind('conflict'))
      await assert.rejects(runtime.pause(theirs.id), ofKind('missing'))
      await runtime.stop(theirs.id)
      await runtime.remove(theirs.id)
      assert.equal((await look(neighbour, theirs.id)).state, 'running')
      assert.deepEqual([await runtime.logs(theirs.id, 5), await runtime.usage(theirs.id)], [[], undefined])
      await assert.rejects(runtime.followLogs(theirs.id, 5, assert.fail, AbortSignal.timeout(5_000)), ofKind('missing'))
      assert.deepEqual(await neighbour.logs(theirs.id, 5), ['their secret'])
      await rig.pause(theirs.id)
      await assert.rejects(runtime.start(theirs.id), ofKind('missing'))
      assert.equal((await look(neighbour, theirs.id)).state, 'paused')
      assert.ok(!(await runtime.list()).some(({ id }) => id === theirs.id))
    })

    test('a program that ends at once was started; its exit code is reported', async () => {
      const { id } = await run('brief', { command: ['/bin/sh', '-c', 'exit 3'] })
      const ended = await eventually(async () => {
        const found = await look(runtime, id)
        assert.equal(found.state, 'exited')
        return found
      })
      assert.deepEqual([ended.exitCode, ended.address], [3, null])
    })

    test(
      'the CPU time of a program grows while it works and stands still while it is paused; memory is known, too, and nothing when it is stopped',
      needs('reportsUsage'),
      async () => {
        const work = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.1'
        const { id } = await run('busy', { command: ['/bin/sh', '-c', `while :; do ${work}; done`], cpus: 0.2 })
        const first = (await runtime.usage(id))?.cpuSeconds ?? 0
        assert.ok(first > 0 && first < 5, `${first} s`)
        await eventually(async () => assert.ok(((await runtime.usage(id))?.cpuSeconds ?? 0) > first))
        await runtime.pause(id)
        const paused = await runtime.usage(id)
        const MiB = 1024 ** 2
        assert.ok(paused?.memoryBytes && paused.memoryBytes < 64 * MiB, `${paused?.memoryBytes} bytes`)
        assert.ok(paused && paused.cpuSeconds > first)
        assert.equal((await runtime.usage(id))?.cpuSeconds, paused.cpuSeconds)
        await runtime.remove(id)
        assert.equal(await runtime.usage(id), undefined)
        assert.equal(await runtime.usage('../info'), undefined)
        const never = await runtime.create(spec('idle'))
        assert.equal(await runtime.usage(never.id), undefined)
      },
    )

    test('the home outlives its container', async () => {
      const home = { volume: `${rig.installation}-home`, path: '/home/berth', size: null }
      const first = await run('home', { home, command: ['/bin/sh', '-c', 'echo kept > note; exec httpd -f -p 8080'] })
      assert.equal(await read(first, 'note'), 'kept\n')
      await runtime.remove(first.id)
      const second = await run('home', { home, command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/home/berth'] })
      assert.notEqual(second.id, first.id)
      assert.equal(await read(second, 'note'), 'kept\n')
    })

    test('homes are listed with their owners, and go when they are removed, but not while a container uses them', async () => {
      const owner = { userId: 31, slug: 'home', type: 'dev' }
      const volume = `${rig.installation}-goes`
      const { id } = await runtime.create(spec('goes', { owner, home: { volume, path: '/home/berth', size: null } }))
      const told = async () => (await runtime.homes()).filter((home) => home.volume === volume)
      assert.deepEqual(await told(), [{ volume, owner }])
      await assert.rejects(runtime.removeHome(volume), ofKind('conflict'))
      assert.deepEqual(await told(), [{ volume, owner }])
      await runtime.remove(id)
      await Promise.all([runtime.removeHome(volume), runtime.removeHome(volume)])
      assert.deepEqual(await told(), [])
      await runtime.removeHome(volume)
    })

    test(
      'a home of another installation is neither told, nor measured, nor removed',
      needs('measuresHomes'),
      async () => {
        const volume = `${rig.installation}-theirs`
        const home = { volume, path: '/home/berth', size: null }
        const { id } = await neighbour.create(spec('theirs-home', { home }))
        await neighbour.remove(id)
        assert.ok(!(await runtime.homes()).some((each) => each.volume === volume))
        assert.ok(!(await runtime.measureHomes(AbortSignal.timeout(60_000))).has(volume))
        for (const name of [volume, `${volume}/../${volume}`, '', '..', 'prune']) await runtime.removeHome(name)
        assert.ok((await neighbour.homes()).some((each) => each.volume === volume))
        assert.ok((await neighbour.measureHomes(AbortSignal.timeout(60_000))).has(volume))
      },
    )

    test(
      'the bytes of a home are measured, also by several callers at once, and not after an abort',
      needs('measuresHomes'),
      async () => {
        const volume = `${rig.installation}-measured`
        const home = { volume, path: '/home/berth', size: null }
        const write = 'mkdir new; head -c 300000 /dev/zero > new/file; head -c 200000 /dev/zero > other; touch done'
        const app = await run('measured', { home, command: ['/bin/sh', '-c', `${write}; exec httpd -f -p 8080`] })
        await read(app, 'done')
        const limit = AbortSignal.timeout(60_000)
        for (const measured of await Promise.all([1, 2, 3].map(() => runtime.measureHomes(limit)))) {
          const bytes = measured.get(volume) ?? 0
          assert.ok(bytes >= 500_000 && bytes < 600_000, `${bytes}`)
        }
        const gaveUp = AbortSignal.abort(new Error('the caller gave up'))
        await assert.rejects(runtime.measureHomes(gaveUp), /the caller gave up/)
      },
    )

    // Whatever made its first helper took those of its own process for what a killed one had left, and removed them.
    test('a home is read to its end while homes are measured', needs('measuresHomes'), async () => {
      const volume = `${rig.installation}-read`
      const home = { volume, path: '/home/berth', size: null }
      const command = ['/bin/sh', '-c', 'head -c 300000 /dev/zero > file; touch done; exec httpd -f -p 8080']
      await read(await run('read', { home, command }), 'done')
      const limit = AbortSignal.timeout(60_000)
      const archive = runtime.homeContents()?.read(volume, limit)[Symbol.asyncIterator]()
      assert.ok((await archive?.next())?.value)
      await runtime.measureHomes(limit)
      while (!(await archive?.next())?.done);
    })

    test(
      'what a home takes is measured behind paths of any length, with holes and names of a file left out; too deep folders have no size',
      needs('measuresHomes'),
      async () => {
        const measured = async (name: string, write: string) => {
          const home = { volume: `${rig.installation}-${name}`, path: '/home/berth', size: null }
          const command = ['/bin/sh', '-c', `${write}; cd /home/berth; touch done; exec httpd -f -p 8080`]
          await read(await run(name, { home, command }), 'done')
          return (await runtime.measureHomes(AbortSignal.timeout(60_000))).get(home.volume)
        }
        const names = (letter: string) => Array.from({ length: 12 }, () => letter.repeat(200)).join('/')
        const move = `mkdir -p ${names('a')} ${names('b')}; mv ${'b'.repeat(200)} ${names('a')}`
        const files = 'head -c 500000 /dev/zero > file; ln file other; truncate -s 1g hole'
        const bytes = (await measured('long-paths', `${move}; ${files}`)) ?? 0
        assert.ok(bytes >= 500_000 && bytes < 900_000, `${bytes}`)
        const deep = 'at=0; while [ $at -lt 1010 ]; do mkdir d; cd d; at=$((at + 1)); done'
        assert.equal(await measured('too-deep', deep), null)
      },
    )

    test(
      'a home is removed while homes are measured, and the others are measured all the same',
      needs('measuresHomes'),
      async () => {
        const volumes = ['gone', 'stays'].map((name) => `${rig.installation}-${name}`)
        const [gone = '', stays = ''] = volumes
        const many = 'at=0; while [ $at -lt 20000 ]; do : > f$at; at=$((at + 1)); done'
        for (const volume of volumes) {
          const home = { volume, path: '/home/berth', size: null }
          const command = ['/bin/sh', '-c', `${many}; touch done; exec httpd -f -p 8080`]
          const app = await run(volume.slice(rig.installation.length + 1), { home, command })
          await read(app, 'done')
          await runtime.remove(app.id)
        }
        const measuring = runtime.measureHomes(AbortSignal.timeout(120_000))
        const filters = JSON.stringify({ label: [`berth.helper=${rig.installation}`, 'berth.helper.task=du'] })
        await eventually(async () => {
          assert.equal((await askEngine<unknown[]>('GET', '/containers/json', { query: { filters } })).length, 1)
        })
        await runtime.removeHome(gone)
        const sizes = await measuring
        assert.equal(sizes.has(gone), false)
        assert.ok(sizes.has(stays))
        assert.equal(await runtime.hasHome(gone), false)
      },
    )

    test('the app gets its port and the environment of the spec', async () => {
      const env = { GREETING: 'a=b "c" $d', PORT: '1' }
      const container = await run('env', { env, ...shell('printf "%s|%s" "$PORT" "$GREETING" > /tmp/env') })
      assert.equal(await read(container, 'env'), '8080|a=b "c" $d')
    })

    test(
      'neighbours cannot reach each other',
      { skip: !rig.isolates && 'the cluster does not enforce NetworkPolicies' },
      async () => {
        const ann = await run('ann')
        assert.equal(await read(ann), 'hello\n')
        const ask = (place: string) => `printf "GET / HTTP/1.0\\r\\n\\r\\n" | nc -w 2 ${place}`
        const script = `
        httpd -p 9090 -h /home/berth
        ${ask('127.0.0.1 9090')} > /tmp/itself 2>&1
        ${ask(`${ann.address} 8080`)} > /tmp/neighbour 2>&1`
        const bob = await run('bob', shell(script))
        assert.match(await read(bob, 'itself'), /hello/)
        // Dropped by the engine, or refused by rules that a Berth has set on this host; the whole of what `nc` says.
        assert.match(await read(bob, 'neighbour'), /^nc: (timed out|can't connect .*: Connection refused)\n$/)
      },
    )

    test(
      'the list has all containers of ours, running or not, or those of one person',
      needs('keepsStopped'),
      async () => {
        const owner = { userId: 4711, slug: 'list', type: 'dev' }
        const running = await run('listed', { owner })
        const made = await runtime.create(spec('listed-too', { owner: { ...owner, type: 'prod' } }))
        const other = await runtime.create(spec('listed-other', { owner: { ...owner, userId: 471 } }))
        const ours = await runtime.list({ userId: 4711 })
        assert.deepEqual(new Set(ours.map(({ id }) => id)), new Set([running.id, made.id]))
        const listed = ours.find(({ id }) => id === running.id)
        assert.deepEqual(listed, { ...running, startedAt: null })
        assert.ok((await runtime.list()).some(({ id }) => id === other.id))
        assert.deepEqual(await runtime.list({ userId: 999_999 }), [])
      },
    )

    test('of the asked ids the list has those that are there, and nothing when none is asked for', async () => {
      const [one, two] = [await run('asked'), await run('not-asked')]
      const listed = await runtime.list({ ids: [one.id, 'f'.repeat(64)] })
      assert.deepEqual(listed, [{ ...one, startedAt: null }])
      assert.deepEqual(await runtime.list({ ids: [] }), [])
      assert.deepEqual(await runtime.list({ ids: [two.id], userId: 999_999 }), [], 'of another user')
    })

    test('a missing image is reported as such, and leaves no container', needs('keepsStopped'), async () => {
      const nowhere = spec('nowhere', { image: '127.0.0.1:1/berth/nothing:1' })
      await assert.rejects(runtime.create(nowhere), ofKind('image'))
      await assert.rejects(runtime.create({ ...nowhere, port: null }), ofKind('image'))
      assert.equal(await runtime.inspect(nowhere.name), undefined)
    })
  })
}
