import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { createKubernetesRuntime } from '#/engines/kubernetes/kubernetes-runtime.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { askCluster, kubeconfig } from '../support/cluster/cluster-api.ts'
import { openCluster } from '../support/cluster/cluster-rig.ts'
import { createAndStart, eventually, ofKind, read } from '../support/engine/runtimes.ts'

/**
 * Part of `npm run test:cluster`: volumes that several pods have (contract, section 15): homes in a claim, homes that types share, and
 * folders of groups. The storage class of the tests gives a claim any access mode; one without a provisioner stands for one that cannot.
 */

const rig = await openCluster()
const { installation, runtime, spec } = rig
const namespace = `/api/v1/namespaces/${installation}`

/** Writes what its script says, and serves its folder. */
const serving = (name: string, folder: string, script: string, fields: Partial<ContainerSpec>) =>
  spec(name, {
    command: ['/bin/sh', '-c', `cd ${folder}; ${script}; touch /tmp/ready; exec httpd -f -p 8080 -h ${folder}`],
    ...fields,
  })
const start = (wanted: ContainerSpec) => createAndStart(runtime, wanted)
const homeOf = (path: string, isShared = true): NonNullable<ContainerSpec['home']> => ({
  volume: `${installation}-person-home`,
  path,
  size: 64 * 1024 ** 2,
  ...(isShared && { isShared: true as const, type: '' }),
})
const modesOf = async (claim: string) =>
  (await askCluster<{ spec: { accessModes: string[] } }>('GET', `${namespace}/persistentvolumeclaims/${claim}`)).spec
    .accessModes
const makeClaim = (name: string, accessMode: string) =>
  askCluster('POST', `${namespace}/persistentvolumeclaims`, {
    metadata: { name },
    spec: { accessModes: [accessMode], resources: { requests: { storage: '64Mi' } } },
  })
const podNames = async () =>
  (await askCluster<{ items: { metadata: { name: string } }[] }>('GET', `${namespace}/pods`)).items.map(
    ({ metadata }) => metadata.name,
  )

suite('volumes that several pods of a cluster have', { concurrency: 2 }, () => {
  after(() => rig.close())

  test('each person has their own folder of the claim of home_source, which the node makes, and no other', async () => {
    await makeClaim('class-homes', 'ReadWriteMany')
    const mounts = (slug: string) => [
      { source: { volume: 'class-homes', subPath: `homes/${slug}` }, target: '/home/berth', readOnly: false },
    ]
    const start = (slug: string) =>
      createAndStart(
        runtime,
        serving(`claim-${slug}`, '/home/berth', `echo ${slug} > whose; ls > names`, { mounts: mounts(slug) }),
      )
    for (const slug of ['ann', 'ben']) {
      const app = await start(slug)
      await eventually(async () => assert.equal((await read(app, 'whose')).trim(), slug))
      assert.deepEqual((await read(app, 'names')).split('\n').filter(Boolean).toSorted(), ['names', 'whose'])
    }
  })

  test('a claim of home_source without ReadWriteMany, and one that is not there, are refused by name, and no pod is made', async () => {
    await makeClaim('one-node', 'ReadWriteOnce')
    for (const [volume, words] of [
      ['one-node', /the claim one-node of home_source has no ReadWriteMany/],
      ['nowhere', /the namespace has no claim nowhere/],
    ] as const) {
      const mounts = [{ source: { volume, subPath: 'ann' }, target: '/home/berth', readOnly: false }]
      await assert.rejects(runtime.create(spec(`on-${volume}`, { mounts })), (error: Error) => {
        assert.ok(ofKind('failed')(error), String(error))
        assert.match(error.message, words)
        return true
      })
    }
    assert.ok(!(await podNames()).some((name) => /on-(one-node|nowhere)/.test(name)))
  })

  test('two pods of a person have one home at once, each at its own place, in a claim with ReadWriteMany', async () => {
    const notebook = serving('notebook', '/home/berth', 'echo saved > file', { home: homeOf('/home/berth') })
    await eventually(async () => assert.equal((await read(await start(notebook), 'file')).trim(), 'saved'))
    const editor = serving('editor', '/workspace', 'echo more >> file', { home: homeOf('/workspace') })
    const app = await start(editor)
    await eventually(async () => assert.equal(await read(app, 'file'), 'saved\nmore\n'))
    assert.deepEqual(await modesOf(homeOf('').volume), ['ReadWriteMany'])
  })

  test('a home that was made for one node is not shared, and the refusal says what to do', async () => {
    const old = { ...homeOf('/home/berth', false), volume: `${installation}-old-home` }
    await start(serving('old', '/home/berth', 'echo old > file', { home: old }))
    await assert.rejects(
      runtime.create(spec('sharing', { home: { ...old, isShared: true } })),
      /was made for one node \(ReadWriteOnce\).* copy it into a claim .* or give the types home_of: type/,
    )
  })

  test('the folder of a group is written by who may, and read by who may not, in a claim with ReadWriteMany', async () => {
    const volume = `${installation}-folder-1`
    await runtime.ensureFolder(volume)
    const mounts = (readOnly: boolean) => [
      { source: { volume }, target: '/groups/physics', readOnly, noCopy: true as const },
    ]
    const write = 'echo task > task || echo refused > /tmp/refused'
    const teacher = await start(serving('teacher', '/groups/physics', write, { mounts: mounts(false) }))
    await eventually(async () => assert.equal((await read(teacher, 'task')).trim(), 'task'))
    const student = await start(
      spec('student', {
        mounts: mounts(true),
        command: [
          '/bin/sh',
          '-c',
          'cd /tmp; cat /groups/physics/task > seen; (echo no > /groups/physics/own) 2> refused; exec httpd -f -p 8080 -h /tmp',
        ],
      }),
    )
    await eventually(async () => assert.equal((await read(student, 'seen')).trim(), 'task'))
    assert.match(await read(student, 'refused'), /Read-only file system/)
    assert.deepEqual(await modesOf(volume), ['ReadWriteMany'])
    await assert.rejects(runtime.removeFolder(volume), ofKind('conflict'))
    for (const { id } of [teacher, student]) await runtime.remove(id)
    await eventually(() => runtime.removeFolder(volume))
  })

  test('where the storage class cannot, the start is refused with the claim, the class and what to name', async () => {
    const storageClass = `${installation}-none`
    const classes = '/apis/storage.k8s.io/v1/storageclasses'
    await askCluster('POST', classes, { metadata: { name: storageClass }, provisioner: 'kubernetes.io/no-provisioner' })
    try {
      const timeouts = { scheduling: 5_000, retries: 5_000 }
      const options = { installation, kubeconfig, namespace: installation, storageClass, timeouts }
      const poor = await createKubernetesRuntime(options)
      const home = { ...homeOf('/home/berth'), volume: `${installation}-poor-home` }
      const { id } = await poor.create(spec('poor', { home }))
      await assert.rejects(poor.start(id), (error: Error) => {
        assert.ok(ofKind('failed')(error), String(error))
        assert.match(
          error.message,
          new RegExp(`its claim ${home.volume} asks for ReadWriteMany.* storage class ${storageClass} `),
        )
        return true
      })
    } finally {
      await askCluster('DELETE', `${classes}/${storageClass}`)
    }
  })
})
