import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { createKubernetesRuntime } from '#/engines/kubernetes/kubernetes-runtime.ts'
import { askCluster, kubeconfig } from '../support/cluster/cluster-api.ts'
import { openCluster } from '../support/cluster/cluster-rig.ts'
import { createAndStart, eventually, look, ofKind, read, shell } from '../support/engine/runtimes.ts'

/** Part of `npm run test:cluster`: what a container is on a cluster, beside the contract that every engine keeps. */

interface StoredPod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels: Record<string, string> }
  readonly spec: {
    readonly automountServiceAccountToken: boolean
    readonly enableServiceLinks: boolean
    readonly restartPolicy: string
    readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[]
  }
}

const rig = await openCluster()
const { runtime, installation, spec, run } = rig
const namespace = `/api/v1/namespaces/${installation}`
const podOf = (name: string) => askCluster<StoredPod>('GET', `${namespace}/pods/${installation}-${name}`)
const namesOf = async (kind: string) =>
  (await askCluster<{ items: StoredPod[] }>('GET', `${namespace}/${kind}`)).items.map(({ metadata }) => metadata.name)

suite('a container on a cluster', { concurrency: 4 }, () => {
  after(() => rig.close())

  test('it is a pod with the uid as its id, and runs from its creation on', async () => {
    const owner = { userId: 7, slug: 'new', type: 'any type ✓' }
    const { id, port } = await runtime.create(spec('new', { owner, fingerprint: 'abc', port: null }))
    assert.equal(port, 8080)
    assert.equal((await podOf('new')).metadata.uid, id)
    await runtime.start(id)
    const found = await look(runtime, id)
    assert.deepEqual(
      [found.state, found.owner, found.fingerprint, found.name],
      ['running', owner, 'abc', `${installation}-new`],
    )
    assert.equal(await read(found), 'hello\n')
  })

  test('it has no token of the cluster, no capability beyond the eight, no new privileges, and a seccomp profile', async () => {
    const script =
      'grep -E "^(CapBnd|NoNewPrivs|Seccomp):" /proc/self/status > /tmp/status; ls /var/run/secrets > /tmp/secrets 2>&1'
    const app = await run('strict', shell(script))
    const status = await read(app, 'status')
    assert.match(status, /CapBnd:\s+00000000000004fb\n/)
    assert.match(status, /NoNewPrivs:\s+1\n/)
    assert.match(status, /Seccomp:\s+2\n/)
    assert.match(await read(app, 'secrets'), /No such file/)
    const { automountServiceAccountToken, enableServiceLinks, restartPolicy } = (await podOf('strict')).spec
    assert.deepEqual([automountServiceAccountToken, enableServiceLinks, restartPolicy], [false, false, 'Never'])
  })

  test('its environment is a Secret that goes with it, and no value of it is in the pod', async () => {
    const env = { SECRET: 'never in a pod' }
    const app = await run('secret', { env, ...shell('printf "%s" "$SECRET" > /tmp/env') })
    assert.equal(await read(app, 'env'), 'never in a pod')
    assert.ok(!JSON.stringify(await podOf('secret')).includes('never in a pod'))
    const ofPod = async () => (await namesOf('secrets')).filter((name) => name.startsWith(`${installation}-secret-`))
    assert.equal((await ofPod()).length, 1)
    await runtime.remove(app.id)
    await eventually(async () => assert.deepEqual(await ofPod(), []))
  })

  test('a stop leaves no pod, and a new one has the home of the old', async () => {
    const home = { volume: `${installation}-kept_home`, path: '/home/berth', size: 1024 ** 2 }
    const first = await run('stopped', { home, command: ['/bin/sh', '-c', 'echo kept > note; exec httpd -f -p 8080'] })
    await read(first, 'note')
    await runtime.stop(first.id)
    assert.equal(await runtime.inspectId(first.id), undefined)
    await assert.rejects(runtime.start(first.id), ofKind('missing'))
    const second = await run('stopped', { home, command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/home/berth'] })
    assert.equal(await read(second, 'note'), 'kept\n')
    assert.ok((await runtime.homes()).some(({ volume }) => volume === home.volume))
  })

  test('a program that ended keeps its exit code and its output, and cannot be started again', async () => {
    const { id } = await run('ended', { command: ['/bin/sh', '-c', 'echo why; exit 3'] })
    await eventually(async () => assert.equal((await look(runtime, id)).state, 'exited'))
    const { exitCode, address, endedAt } = await look(runtime, id)
    assert.deepEqual([exitCode, address, typeof endedAt], [3, null, 'number'])
    assert.deepEqual(await runtime.logs(id, 5), ['why'])
    await assert.rejects(runtime.start(id), ofKind('failed'))
    await runtime.stop(id)
    assert.equal((await look(runtime, id)).exitCode, 3)
    await runtime.removeStopped(id)
    assert.equal(await runtime.inspectId(id), undefined)
  })

  test('what runs is not removed where only what is stopped may be', async () => {
    const { id } = await run('busy')
    await assert.rejects(runtime.removeStopped(id), ofKind('conflict'))
    assert.equal((await look(runtime, id)).state, 'running')
  })

  test('a program that cannot be executed is reported with the words of the engine', async () => {
    await assert.rejects(run('no-program', { command: ['/no/such/program'] }), (error) => {
      assert.ok(ofKind('failed')(error), String(error))
      assert.match(String((error as Error).cause), /no such file/)
      return true
    })
  })

  test('an image that cannot be had is reported, and its pod does not stay', async () => {
    const { id } = await runtime.create(spec('nowhere', { image: '127.0.0.1:1/berth/nothing:1' }))
    const waits: string[] = []
    await assert.rejects(
      runtime.start(id, undefined, (wait) => void waits.push(wait)),
      ofKind('image'),
    )
    assert.deepEqual(waits, ['image'])
    await eventually(async () => assert.equal(await runtime.inspectId(id), undefined))
    const invalid = await runtime.create(spec('invalid', { image: 'Not An Image' }))
    await assert.rejects(runtime.start(invalid.id), ofKind('image'))
  })

  test('what no node has room for is refused in words, and its pod does not stay', async () => {
    const { id } = await runtime.create(spec('huge', { memory: 2 ** 45 }))
    const waits: string[] = []
    const start = runtime.start(id, undefined, (wait) => void waits.push(wait))
    await assert.rejects(start, (error) => {
      assert.ok(ofKind('full')(error), String(error))
      assert.match(String((error as Error).cause), /Insufficient memory/)
      return true
    })
    assert.deepEqual(waits, ['node'])
    await eventually(async () => assert.equal(await runtime.inspectId(id), undefined))
  })

  test('a quota of the namespace refuses in words', async (t) => {
    await askCluster('POST', `${namespace}/resourcequotas`, {
      metadata: { name: 'few' },
      spec: { hard: { 'requests.nvidia.com/gpu': '0' } },
    })
    t.after(() => askCluster('DELETE', `${namespace}/resourcequotas/few`))
    await eventually(() =>
      assert.rejects(runtime.create(spec('gpus', { gpus: 1 })), (error) => {
        assert.ok(ofKind('full')(error), String(error))
        assert.match(
          (error as RuntimeError).limit ?? '',
          /^few, requested: requests\.nvidia\.com\/gpu=1, used: .*limited: /,
        )
        return true
      }),
    )
  })

  test('a name that a pod of others has is refused, and that pod stays as it is', async () => {
    const name = `${installation}-theirs`
    const container = { name: 'app', image: spec('theirs').image }
    await askCluster('POST', `${namespace}/pods`, { metadata: { name }, spec: { containers: [container] } })
    const { metadata } = await podOf('theirs')
    const seen = await runtime.inspect(name)
    assert.deepEqual([seen?.id, seen?.owner], [metadata.uid, null])
    await assert.rejects(runtime.create(spec('theirs')), ofKind('conflict'))
    await runtime.stop(metadata.uid)
    await runtime.remove(metadata.uid)
    assert.equal((await podOf('theirs')).metadata.uid, metadata.uid)
    assert.ok(!(await runtime.list()).some(({ id }) => id === metadata.uid))
  })

  test('another installation of the same namespace is neither listed, nor stopped, nor are its homes', async () => {
    const volume = `${installation}-their-home`
    const theirs = await createAndStart(
      rig.neighbour,
      spec('neighbour', { home: { volume, path: '/home/berth', size: null } }),
    )
    await runtime.stop(theirs.id)
    await runtime.remove(theirs.id)
    await runtime.removeHome(volume)
    assert.equal((await look(rig.neighbour, theirs.id)).state, 'running')
    assert.ok((await rig.neighbour.homes()).some((home) => home.volume === volume))
    assert.ok(!(await runtime.homes()).some((home) => home.volume === volume))
    await assert.rejects(
      runtime.create(spec('thief', { home: { volume, path: '/home/berth', size: null } })),
      ofKind('conflict'),
    )
  })

  test('a program that will not end is ended after the time that it has', async () => {
    const { id } = await run('stubborn', { command: ['/bin/sh', '-c', 'trap "" TERM; while :; do sleep 1; done'] })
    const asked = performance.now()
    await runtime.stop(id, undefined, 3)
    const took = performance.now() - asked
    assert.equal(await runtime.inspectId(id), undefined)
    assert.ok(took > 2_500 && took < 30_000, `${took} ms`)
  })

  test('a watcher receives starts, ends and removals, also those from outside', async (t) => {
    const away = new AbortController()
    t.after(() => away.abort())
    const heard: RuntimeEvent[] = []
    runtime.watch((event) => void heard.push(event), away.signal)
    const { id } = await run('watched')
    const actions = () =>
      heard.filter((event) => event.id === id && event.action !== 'other').map(({ action }) => action)
    await eventually(() => assert.deepEqual(actions(), ['start']))
    await rig.stopFromOutside(id)
    await eventually(() => assert.deepEqual(actions(), ['start', 'die', 'destroy']))
    const hungry = await run('hungry', {
      memory: 16 * 1024 ** 2,
      command: ['/bin/sh', '-c', 'sleep 1; tail /dev/zero'],
    })
    await eventually(() => assert.ok(heard.some((event) => event.id === hungry.id && event.action === 'oom')))
  })

  test('a process that begins later knows every pod by its id', async () => {
    const { id } = await run('older')
    const later = await createKubernetesRuntime({
      installation,
      kubeconfig,
      namespace: installation,
      storageClass: null,
    })
    assert.equal((await look(later, id)).state, 'running')
    await later.remove(id)
    assert.equal(await runtime.inspectId(id), undefined)
  })

  test('nothing can be paused', async () => {
    const { id } = await run('awake')
    await assert.rejects(runtime.pause(id), ofKind('failed'))
    await assert.rejects(runtime.pause('no-such-id'), ofKind('missing'))
  })
})
