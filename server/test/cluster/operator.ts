import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, suite, test, type TestContext } from 'node:test'
import { askCluster, clusterImage, kubeconfig, makeNamespace } from '../support/cluster/cluster-api.ts'
import { signUpOnCluster } from '../support/cluster/cluster-person.ts'
import { runCommand } from '../support/command-line.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { runProgram } from '../support/program.ts'

/** Part of `npm run test:cluster`: starter files, backup, restore and doctor, as an operator has them on a cluster. */

const namespace = `test-${randomBytes(4).toString('hex')}`
const removeNamespace = await makeNamespace(namespace)
const image = await clusterImage()

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-operator-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface DoctorReport {
  readonly findings: readonly { readonly check: string; readonly level: string; readonly what: string }[]
  readonly not_checked: readonly { readonly check: string }[]
  readonly passed: readonly string[]
}

suite('an operator of Berth on a cluster', () => {
  after(removeNamespace)

  test('starter files are in the home at the first visit, and a backup brings the home back after its claim is gone', async (t) => {
    const [course, dataDir, backups] = [folderOf(t), folderOf(t), folderOf(t)]
    writeFileSync(path.join(course, 'task'), 'first task')
    const template = {
      display_name: 'Development',
      image,
      port: 8080,
      memory: '64m',
      home: '/data',
      home_size: '32m',
      files: [{ from: { path: course } }],
      command: ['/bin/sh', '-c', 'cd /data; [ -f note ] || date +%s%N > note; exec httpd -f -p 8080'],
    }
    const settings = {
      ENGINE: 'kubernetes',
      KUBECONFIG: kubeconfig,
      KUBERNETES_NAMESPACE: namespace,
      KUBERNETES_HELPER_IMAGE: image,
      ALLOWED_MOUNT_ROOTS: course,
      CONTAINER_TEMPLATES: JSON.stringify({ dev: template }),
    }
    const first = runProgram(t, settings, dataDir)
    const ann = await signUpOnCluster(first, namespace, 'ann@x.org')
    const read = async (person: typeof ann, file: string) =>
      eventually(async () => {
        const { status, text } = await person.page('dev', file)
        assert.equal(status, 200, text.slice(0, 300))
        return text
      }, 90_000)
    assert.equal((await ann.json('/api/container/launch/dev', 'POST')).status, 200)
    assert.equal(await read(ann, 'task'), 'first task')
    const note = await read(ann, 'note')

    const store = { ...settings, DATA_DIR: dataDir }
    const saved = await runCommand(store, 'backup', backups, '--json')
    assert.equal(saved.code, 0, saved.stdout + saved.stderr)
    assert.equal((await ann.json('/api/container/stop/dev', 'POST')).status, 200)
    first.process.kill('SIGTERM')
    await first.ended()
    const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`
    const { items } = await askCluster<{ items: { metadata: { name: string } }[] }>('GET', claims)
    assert.equal(items.length, 1)
    await askCluster('DELETE', `${claims}/${items[0]?.metadata.name}`)
    await eventually(async () => assert.deepEqual((await askCluster<{ items: object[] }>('GET', claims)).items, []))

    const { backup } = JSON.parse(saved.stdout) as { backup: string }
    const restored = await runCommand(store, 'restore', backup, '--force')
    assert.equal(restored.code, 0, restored.stdout + restored.stderr)
    const second = runProgram(t, settings, dataDir)
    const again = await signUpOnCluster(second, namespace, 'ann@x.org', 'login')
    assert.equal((await again.json('/api/container/launch/dev', 'POST')).status, 200)
    assert.equal(await read(again, 'note'), note)
  })

  test('doctor looks at the cluster in place of an engine of this machine', async (t) => {
    const settings = {
      ENGINE: 'kubernetes',
      KUBECONFIG: kubeconfig,
      KUBERNETES_NAMESPACE: namespace,
      KUBERNETES_STORAGE_CLASS: 'none-of-this-name',
      DATA_DIR: folderOf(t),
    }
    const { stdout, stderr } = await runCommand(settings, 'doctor', '--json')
    const report = JSON.parse(stdout) as DoctorReport
    const of = (check: string) => report.findings.filter((each) => each.check === check).map(({ level }) => level)
    assert.deepEqual(of('storage'), ['critical'], stderr)
    // The account of the tests is an administrator.
    assert.deepEqual(of('rights'), ['warning'])
    assert.ok(report.passed.includes('quotas'))
    assert.ok(report.not_checked.some(({ check }) => check === 'policies'))
    assert.ok(![...report.findings, ...report.not_checked].some(({ check }) => check === 'engine'))
  })
})
