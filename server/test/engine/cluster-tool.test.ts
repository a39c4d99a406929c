import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebSocketServer } from 'ws'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { PodIndex } from '#/engines/kubernetes/pod-index.ts'
import { awaitStart } from '#/engines/kubernetes/container-lifecycle.ts'
import { execInApp } from '#/engines/kubernetes/container-exec.ts'
import { createPod, podManifest } from '#/engines/kubernetes/container-create.ts'
import { restrictedProblems } from '../support/cluster/api-schemas.ts'
import { openStandIn, podList, reply, storedPod } from '../support/cluster/stand-in-api.ts'
import { ofKind, plainSpec } from '../support/engine/runtimes.ts'

/** The container tool in pods, by a stand-in for an API server; a real cluster has it in `npm run test:cluster`. */

const name = 'berth-abcde-ann-dev'
const spec: ContainerSpec = {
  ...plainSpec,
  name,
  image: 'app:1',
  home: { volume: 'berth-abcde-ann-home', path: '/home/ann', size: null },
  awaitsFiles: true,
}
const settings = { installation: 'berth-abcde', helperImage: 'helper:1', toolImage: 'berth:1' }
const manifest = (some: Partial<typeof settings> | { toolImage: null } = {}) =>
  podManifest({ ...settings, ...some }, spec, 8080, { pod: name, secret: 'env' }).spec

test('with an image of the tool a first container copies it into a folder that the app mounts read-only', () => {
  const { initContainers = [], containers = [], volumes = [], securityContext } = manifest() ?? {}
  assert.deepEqual(
    initContainers.map((each) => [each.name, each.image]),
    [
      ['tool', 'berth:1'],
      ['files', 'helper:1'],
    ],
  )
  const [tool] = initContainers
  assert.deepEqual(tool?.command, ['berth-tool', 'install', '/.berth'])
  assert.deepEqual(tool?.volumeMounts, [{ name: 'tool', mountPath: '/.berth' }])
  const ofApp = containers[0]?.volumeMounts?.filter(({ mountPath }) => mountPath.startsWith('/.berth'))
  assert.deepEqual(ofApp, [{ name: 'tool', mountPath: '/.berth', readOnly: true }])
  // No other container has the folder.
  assert.ok(initContainers[1]?.volumeMounts?.every(({ name: volume }) => volume !== 'tool'))
  assert.deepEqual(
    volumes.filter((each) => each.name === 'tool').map(({ emptyDir }) => Object.keys(emptyDir ?? {})),
    [['sizeLimit']],
  )
  assert.deepEqual(restrictedProblems({ securityContext, initContainers: [tool], volumes } as never), [])
})

test('without such an image, as without SSH, a pod is as it was', () => {
  const { initContainers, containers, volumes } = manifest({ toolImage: null }) ?? {}
  assert.deepEqual(
    initContainers?.map((each) => each.name),
    ['files'],
  )
  assert.ok(!JSON.stringify([containers, volumes]).includes('berth:1'))
  assert.ok(!JSON.stringify([containers, volumes]).includes('.berth'))
})

test('a pod with the tool has kinds and fields of the newest API alone', async (t) => {
  const { cluster, asked } = await openStandIn(t, ({ method, path }, response) => {
    if (method === 'GET' && path.endsWith('/pods')) return reply(response, 200, podList('1'))
    return reply(response, method === 'POST' ? 201 : 200, storedPod(name, 'uid-1'))
  })
  await createPod({ ...cluster, toolImage: 'berth:1' }, { ...spec, home: null })
  const pod = asked.find(({ method, path }) => method === 'POST' && path.endsWith('/pods'))
  assert.match(JSON.stringify(pod?.body), /"image":"berth:1"/)
})

test('an image of the tool that cannot be pulled, and one without it, are told as the reason', async (t) => {
  const states = [
    { waiting: { reason: 'InvalidImageName', message: 'not an image' } },
    { terminated: { exitCode: 128, reason: 'StartError', message: 'exec: "berth-tool": not found in $PATH' } },
  ]
  for (const [state, words] of [
    [states[0], /InvalidImageName: not an image/],
    [states[1], /its container tool: StartError: exec: "berth-tool"/],
  ] as const) {
    const { cluster } = await openStandIn(t, ({ path }, response) => {
      const pod = storedPod(name, 'uid-1')
      const status = {
        phase: state && 'terminated' in state ? 'Failed' : 'Pending',
        initContainerStatuses: [
          { name: 'tool', state },
          { name: 'files', state: { waiting: { reason: 'PodInitializing' } } },
        ],
        containerStatuses: [{ name: 'app', state: { waiting: { reason: 'PodInitializing' } } }],
      }
      return reply(response, 200, path.endsWith('/pods') ? podList('1', { ...pod, status }) : { ...pod, status })
    })
    cluster.index.noteCreated(storedPod(name, 'uid-1').metadata)
    await assert.rejects(awaitStart(cluster, 'uid-1'), (error: Error) => {
      assert.match(String(error.cause), words)
      return true
    })
  }
})

test('a pod that has no tool answers a session with the code of a program that is missing', async (t) => {
  const { cluster, server } = await openStandIn(t, ({ path }, response) => {
    const pod = storedPod(name, 'uid-1', { running: true })
    return reply(response, 200, path.endsWith('/pods') ? podList('1', pod) : pod)
  })
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'v5.channel.k8s.io' })
  t.after(() => sockets.close())
  // In the words of containerd 1.6 and runc 1.1.
  const message =
    'Internal error occurred: error executing command in container: failed to exec in container: failed to start exec "5a": OCI runtime exec failed: exec failed: unable to start container process: exec: "/.berth/berth-tool": stat /.berth/berth-tool: no such file or directory: unknown'
  sockets.on('connection', (socket) => {
    socket.send(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify({ status: 'Failure', message }))]))
    socket.close()
  })
  const signal = AbortSignal.timeout(20_000)
  const { stream, ended } = await execInApp(cluster, 'uid-1', ['/.berth/berth-tool', 'session'], signal)
  stream.resume()
  const { code, errors } = await ended
  assert.deepEqual([code, errors.includes('no such file')], [127, code === null])
})

// The first session of the SSH process listed the pods, and each pod that was launched later was gone for it.
test('a process that creates no pods finds one that was created after it has looked at all', async (t) => {
  const pods = [storedPod(name, 'uid-1', { running: true })]
  const { cluster, server } = await openStandIn(t, ({ path }, response) => {
    if (path.endsWith('/pods')) return reply(response, 200, podList('1', ...pods))
    return reply(
      response,
      200,
      pods.find(({ metadata }) => path.endsWith(metadata.name)),
    )
  })
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'v5.channel.k8s.io' })
  t.after(() => sockets.close())
  sockets.on('connection', (socket) => {
    socket.send(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify({ status: 'Success' }))]))
    socket.close()
  })
  const shared = { ...cluster, index: new PodIndex('berth-abcde', undefined, true) }
  const codeIn = async (uid: string) => {
    const { stream, ended } = await execInApp(shared, uid, ['true'], AbortSignal.timeout(20_000))
    stream.resume()
    return (await ended).code
  }
  assert.equal(await codeIn('uid-1'), 0)
  pods.push(storedPod('berth-abcde-bob-dev', 'uid-2', { running: true }))
  assert.equal(await codeIn('uid-2'), 0)
  await assert.rejects(codeIn('uid-3'), ofKind('missing'))
})
