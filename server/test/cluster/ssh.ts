import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { askCluster, clusterImage, kubeconfig, loadImage } from '../support/cluster/cluster-api.ts'
import { restrictedProblems } from '../support/cluster/api-schemas.ts'
import { onCluster } from '../support/cluster/berth-on-cluster.ts'
import { assertOk } from '../support/api-calls.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { freePort } from '../support/free-port.ts'
import { sshArgs, startSsh } from '../ssh/ssh-rig.ts'

/** Part of `npm run test:cluster`: SSH into pods, by Debian's OpenSSH, with the tool that a first container brings. */

interface Pod {
  readonly metadata: { readonly name: string }
  readonly spec: Parameters<typeof restrictedProblems>[0] & { readonly initContainers?: readonly { name: string }[] }
}

const endings: (() => unknown)[] = []
const lifetime = { after: (ending: () => unknown) => void endings.unshift(ending) }

/** An image that has nothing but the tool, as that of a release has it beside much else. */
async function toolImage(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tool-image-'))
  lifetime.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'usr/bin'), { recursive: true })
  const tool = path.resolve(import.meta.dirname, '../../../.berth/container-tool', process.arch, 'berth-tool')
  copyFileSync(tool, path.join(folder, 'usr/bin/berth-tool'))
  const archive = path.join(folder, 'image.tar')
  execFileSync('tar', ['-C', folder, '-cf', archive, 'usr'])
  const image = `berth-tool-${randomBytes(4).toString('hex')}:1`
  execFileSync('docker', ['import', '--change', 'ENV PATH=/usr/bin', archive, image])
  lifetime.after(() => execFileSync('docker', ['rmi', image], { stdio: 'ignore' }))
  await loadImage(image)
  return image
}

const tool = await toolImage()
const place = await onCluster(lifetime, tool)
const template = {
  display_name: 'Development',
  description: '',
  image: await clusterImage(),
  port: 8080,
  memory: '64m',
  home: '/data',
  command: ['/bin/sh', '-c', 'cd /data; httpd -p 127.0.0.1:3000; exec httpd -f -p 8080'],
}
const rig = await startSsh(lifetime, {
  ...place,
  env: {
    ENGINE: 'kubernetes',
    KUBECONFIG: kubeconfig,
    KUBERNETES_NAMESPACE: place.installation,
    KUBERNETES_TOOL_IMAGE: tool,
    CONTAINER_TEMPLATES: JSON.stringify({ dev: template }),
  },
})
const { berth } = rig
const key = rig.makeKey('ann', '-t', 'ed25519')
await berth.administrator()
const ann = await berth.signUp('ann@x.org')
await rig.addKey(ann, key)
const pods = async () =>
  (await askCluster<{ items: Pod[] }>('GET', `/api/v1/namespaces/${place.installation}/pods`)).items

suite('SSH on a cluster', () => {
  after(async () => {
    for (const ending of endings) await ending()
  })

  test('a command launches the pod, and has its input, both outputs and its exit status', async () => {
    const script = 'read line; echo "$line in $PWD"; echo wrong >&2; exit 3'
    const { code, output, errors } = await rig.run('ssh', sshArgs(rig, key, 'ann-dev', script), 'typed\n')
    assert.deepEqual([code, output.toString(), errors], [3, 'typed in /data\n', 'wrong\n'])
  })

  test('the container that brings the tool is of the level restricted, and no program of the pod can change the tool', async () => {
    const [pod] = (await pods()).filter(({ metadata }) => metadata.name.includes('ann-dev'))
    assert.deepEqual(
      pod?.spec.initContainers?.map(({ name }) => name),
      ['tool'],
    )
    assert.deepEqual(restrictedProblems({ ...pod?.spec, containers: [] }), [])
    const script = 'rm /.berth/berth-tool; echo x > /.berth/berth-tool; echo x > /.berth/other; ls /.berth'
    const { output, errors } = await rig.run('ssh', sshArgs(rig, key, 'ann-dev', script))
    assert.equal(output.toString(), 'berth-tool\n')
    assert.equal(errors.match(/[Rr]ead-only file system/g)?.length, 3, errors)
  })

  test('a terminal has a size, and a command sees the end of its input', async () => {
    const child = rig.start('ssh', ['-tt', ...sshArgs(rig, key, 'ann-dev', 'stty size; tty; sleep 1')])
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => void (said += bytes.toString()))
    await new Promise((resolve) => void child.once('close', resolve))
    assert.match(said, /\d+ \d+\r\n\/dev\/pts\/\d+\r\n/)
    const all = Buffer.alloc(3_000_000, 'all of it ')
    const { code, output } = await rig.run('ssh', sshArgs(rig, key, 'ann-dev', 'cat | md5sum'), all)
    assert.deepEqual(
      [code, output.toString().slice(0, 32)],
      [0, execFileSync('md5sum', { input: all }).toString().slice(0, 32)],
    )
  })

  test('files go both ways by scp and sftp', async () => {
    const [local, back] = [path.join(rig.folder, 'there'), path.join(rig.folder, 'back')]
    writeFileSync(local, randomBytes(5_000_000))
    const options = [...rig.options(key), '-P', String(rig.port)]
    const there = await rig.run('scp', [...options, local, 'ann-dev@127.0.0.1:there'])
    assert.equal(there.code, 0, there.errors)
    const again = await rig.run('scp', [...options, 'ann-dev@127.0.0.1:there', back])
    assert.equal(again.code, 0, again.errors)
    assert.ok(readFileSync(back).equals(readFileSync(local)))
    const listed = await rig.run('sftp', [...options, '-b', '-', 'ann-dev@127.0.0.1'], 'ls -l there\n')
    assert.match(listed.output.toString(), /5000000/)
  })

  test('a program on loopback is reached by forwarding, and another host is refused', async (t) => {
    const [own, other] = [await freePort(), await freePort()]
    const forwards = ['-L', `${own}:localhost:3000`, '-L', `${other}:10.250.255.2:6443`]
    const child = rig.start('ssh', ['-N', ...forwards, ...sshArgs(rig, key, 'ann-dev')])
    t.after(() => child.kill())
    const read = async () => (await fetch(`http://127.0.0.1:${own}/no-such-page`)).status
    await eventually(async () => assert.equal(await read(), 404))
    await assert.rejects(fetch(`http://127.0.0.1:${other}/`, { signal: AbortSignal.timeout(10_000) }))
  })

  test('a stop ends a session with a line, and the next one launches a new pod', async () => {
    const child = rig.start('ssh', ['-tt', ...sshArgs(rig, key, 'ann-dev', 'echo up; sleep 300')])
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => void (said += bytes.toString()))
    child.stderr.on('data', (bytes: Buffer) => void (said += bytes.toString()))
    const ended = new Promise<number | null>((resolve) => void child.once('close', resolve))
    await eventually(async () => assert.match(said, /up/))
    assertOk(await ann.call('POST', '/api/container/stop/dev'))
    assert.equal(await Promise.race([ended, sleep(60_000, 'still there')]), 255)
    assert.match(said, /Berth: /)
    const { code, output, errors } = await rig.run('ssh', sshArgs(rig, key, 'ann-dev', 'cat there | wc -c'))
    assert.deepEqual([code, output.toString().trim(), errors], [0, '5000000', ''])
  })
})
