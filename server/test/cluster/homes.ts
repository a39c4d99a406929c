import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, suite, test } from 'node:test'
import { packTar, unpackTar } from 'modern-tar'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { clusterHomeArchive, createKubernetesRuntime } from '#/engines/kubernetes/kubernetes-runtime.ts'
import { askCluster, kubeconfig } from '../support/cluster/cluster-api.ts'
import { openCluster } from '../support/cluster/cluster-rig.ts'
import { createAndStart, eventually, look, ofKind, read } from '../support/engine/runtimes.ts'

/** Part of `npm run test:cluster`: files of homes, by pods of KUBERNETES_HELPER_IMAGE. The image of the tests is busybox, and serves as that, too. */

const rig = await openCluster()
const { installation, spec } = rig
const options = {
  installation,
  kubeconfig,
  namespace: installation,
  storageClass: null,
  helperImage: spec('any').image,
  timeouts: { scheduling: 30_000, retries: 5_000 },
}
const [runtime, archive] = await Promise.all([createKubernetesRuntime(options), clusterHomeArchive(options)])
const files = runtime.containerFiles()
const contents = runtime.homeContents()
assert.ok(files && contents)

const signal = AbortSignal.timeout(120_000)
const homeOf = (name: string): NonNullable<ContainerSpec['home']> => ({
  volume: `${installation}-${name}-home`,
  path: '/home/berth',
  size: 64 * 1024 ** 2,
})
/** A web server of the home. */
const serving = (name: string, fields: Partial<ContainerSpec> = {}) =>
  spec(name, { home: homeOf(name), command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/home/berth'], ...fields })
const tarOf = async (...entries: Parameters<typeof packTar>[0]) => Readable.from([await packTar(entries)])
const file = (name: string, body: string, uid = 1000, mode = 0o644) => ({
  header: { name, size: Buffer.byteLength(body), uid, gid: uid, mode, type: 'file' as const },
  body,
})
async function entriesOf(bytes: AsyncIterable<Uint8Array>) {
  const all = await unpackTar(Buffer.concat(await Array.fromAsync(bytes)))
  return new Map(
    all.map(({ header, data }) => [
      header.name.replace(/^\.\//, ''),
      { header, text: Buffer.from(data ?? []).toString() },
    ]),
  )
}
interface StoredPod {
  readonly spec: { readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[] }
}
/** Helpers that have this home. */
const helpersOf = async (volume: string) => {
  const path = `/api/v1/namespaces/${installation}/pods?labelSelector=berth.helper`
  const { items } = await askCluster<{ items: StoredPod[] }>('GET', path)
  return items.filter(({ spec: { volumes } }) =>
    volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === volume),
  )
}

suite('files of homes on a cluster', { concurrency: 3 }, () => {
  after(() => rig.close())

  test('starter files are put into the home after the creation, and the app starts with them', async () => {
    const { id } = await runtime.create(serving('starter', { awaitsFiles: true }))
    assert.equal((await look(runtime, id)).state, 'created')
    assert.equal((await files.status(id, '/home/berth', signal))?.kind, 'folder')
    assert.equal(await files.status(id, '/home/berth/course', signal), undefined)
    const account = await files.accountFor(id, '/home/berth', signal)
    assert.deepEqual(account, { uid: 1000, gid: 1000 })
    const folder = { name: 'course', size: 0, uid: 1000, gid: 1000, mode: 0o755, type: 'directory' as const }
    const link = {
      name: 'course/link',
      size: 0,
      uid: 1000,
      gid: 1000,
      mode: 0o777,
      type: 'symlink' as const,
      linkname: 'first',
    }
    await files.write(
      id,
      '/home/berth',
      await tarOf({ header: folder }, file('course/first', 'hello'), { header: link }),
      signal,
    )
    assert.deepEqual(await files.status(id, '/home/berth/course/first', signal), { kind: 'file', size: 5, mode: 0o644 })
    assert.equal((await files.status(id, '/home/berth/course/link', signal))?.kind, 'link')
    assert.equal(await files.linkTarget(id, '/home/berth/course/link', signal), 'first')
    const parts = await Array.fromAsync(files.read(id, '/home/berth/course/first', signal))
    assert.equal(Buffer.concat(parts).toString(), 'hello')
    assert.equal((await look(runtime, id)).state, 'created', 'the app waits')
    await runtime.start(id)
    assert.equal(await read(await look(runtime, id), 'course/first'), 'hello')
  })

  test('a pod whose files may be missing, because its process has ended, is not started by another one', async () => {
    const { id } = await runtime.create(serving('orphan', { awaitsFiles: true }))
    const later = await createKubernetesRuntime(options)
    await assert.rejects(later.start(id), ofKind('failed'))
    await runtime.remove(id)
  })

  test('a home that a program uses is read, with owners, modes and links, and no helper stays', async () => {
    const app = await createAndStart(
      runtime,
      serving('read', {
        command: [
          '/bin/sh',
          '-c',
          'cd /home/berth; echo note > note; chmod 640 note; ln -s note link; mkdir -p a/b; dd if=/dev/urandom of=a/b/large bs=1M count=9 2>/dev/null; touch ready; exec httpd -f -p 8080',
        ],
      }),
    )
    await read(app, 'ready')
    const found = await entriesOf(contents.read(homeOf('read').volume, signal))
    assert.equal(found.get('note')?.text, 'note\n')
    assert.deepEqual([found.get('note')?.header.mode, found.get('note')?.header.uid], [0o640, 1000])
    assert.equal(found.get('link')?.header.linkname, 'note')
    assert.equal(found.get('a/b/large')?.header.size, 9 * 1024 ** 2)
    assert.deepEqual(await helpersOf(homeOf('read').volume), [])
  })

  test('what is at a path is read and removed alone, and no link before it is followed', async () => {
    const volume = homeOf('paths').volume
    const script =
      'cd /home/berth; mkdir -p a/b; echo one > a/b/one; echo two > a/two; ln -s /etc out; touch ready; exec httpd -f -p 8080'
    const app = await createAndStart(runtime, serving('paths', { command: ['/bin/sh', '-c', script] }))
    await read(app, 'ready')
    await runtime.stop(app.id)
    const names = async (path: string) => [...(await entriesOf(contents.readAt(volume, path, signal))).keys()]
    assert.deepEqual((await names('a/b')).toSorted(), ['b/', 'b/one'])
    assert.deepEqual(await names('a/two'), ['two'])
    for (const path of ['out/passwd', 'a/three', 'a/two/x']) {
      await assert.rejects(names(path), ofKind('missing'))
      await assert.rejects(contents.removeAt(volume, path, signal), ofKind('missing'))
    }
    await contents.removeAt(volume, 'a/b', signal)
    await contents.removeAt(volume, 'out', signal)
    const found = await entriesOf(contents.read(volume, signal))
    assert.deepEqual([found.has('a/two'), found.has('a/b/one'), found.has('out')], [true, false, false])
  })

  test('an archive is unpacked into a home that exists: what is there stays, and the owner of each file is that of the archive', async () => {
    const app = await createAndStart(
      runtime,
      serving('add', {
        command: ['/bin/sh', '-c', 'cd /home/berth; [ -f old ] || echo old > old; exec httpd -f -p 8080'],
      }),
    )
    await read(app, 'old')
    await runtime.stop(app.id)
    await contents.add(homeOf('add').volume, await tarOf(file('new', 'new', 1234, 0o604)), signal)
    const found = await entriesOf(contents.read(homeOf('add').volume, signal))
    assert.deepEqual([found.get('old')?.text, found.get('new')?.text], ['old\n', 'new'])
    assert.deepEqual([found.get('new')?.header.uid, found.get('new')?.header.mode], [1234, 0o604])
    const gone = `${installation}-no-home`
    await assert.rejects(contents.add(gone, await tarOf(), signal), ofKind('missing'))
    await assert.rejects(Array.fromAsync(contents.read(gone, signal)), ofKind('missing'))
  })

  test('a home of a backup is made anew with its size and its files, and one that is there is left as it is', async () => {
    const home = {
      volume: `${installation}-restored`,
      owner: { userId: 9, slug: 'zoe', type: 'dev' },
      size: 32 * 1024 ** 2,
    }
    const write = async (text: string) => {
      const tar = await tarOf(file('note', text))
      return archive.write(home, () => tar, { signal, beforeCreate: async () => undefined })
    }
    assert.equal(await write('first'), 'created')
    assert.equal(await write('second'), 'exists')
    const found = await entriesOf(archive.read(home.volume, signal))
    assert.equal(found.get('note')?.text, 'first')
    assert.deepEqual(
      (await archive.homes()).find(({ volume }) => volume === home.volume),
      home,
    )
    await archive.removeUnfinished(home.volume)
    assert.ok(!(await archive.homes()).some(({ volume }) => volume === home.volume))
  })

  test('an archive that is none fails with the words of tar, and leaves no home', async () => {
    const home = { volume: `${installation}-broken`, owner: { userId: 9, slug: 'zoe', type: 'dev' } }
    const broken = Readable.from([randomBytes(20_480)])
    const failed = archive.write(home, () => broken, { signal, beforeCreate: async () => undefined })
    await assert.rejects(failed, (error) => {
      assert.ok(ofKind('failed')(error), String(error))
      assert.match(String((error as Error).cause), /tar/)
      return true
    })
    await eventually(async () => assert.ok(!(await archive.homes()).some(({ volume }) => volume === home.volume)))
  })
})
