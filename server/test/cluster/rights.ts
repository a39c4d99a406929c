import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import { parse, stringify } from 'yaml'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { createKubernetesRuntime } from '#/engines/kubernetes/kubernetes-runtime.ts'
import { helperRights, neededRights } from '#/engines/kubernetes/engine-inspection.ts'
import { askCluster, clusterImage, kubeconfig, makeNamespace } from '../support/cluster/cluster-api.ts'
import { pathOf } from '../support/cluster/deployment.ts'
import { manifests, manifestsIn, type Rule } from '../support/cluster/manifests.ts'
import { eventually, look, ofKind, plainSpec } from '../support/engine/runtimes.ts'

/** Part of `npm run test:cluster`: the files of deploy/kubernetes, and the rights that they give. */

const rules = manifests.find(({ kind }) => kind === 'Role')?.rules ?? []

const namespace = `test-${randomBytes(4).toString('hex')}`
const removeNamespace = await makeNamespace(namespace)
const image = await clusterImage()
const folder = mkdtempSync(path.join(tmpdir(), 'berth-rights-'))

/** A kubeconfig of an account that has these rights and no others. */
async function accountWith(name: string, given: readonly Rule[]): Promise<string> {
  const [accounts, rbac] = [
    `/api/v1/namespaces/${namespace}/serviceaccounts`,
    `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`,
  ]
  await askCluster('POST', accounts, { metadata: { name } })
  await askCluster('POST', `${rbac}/roles`, { metadata: { name }, rules: given })
  await askCluster('POST', `${rbac}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  })
  const { status } = await askCluster<{ status: { token: string } }>('POST', `${accounts}/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3_600 },
  })
  const admin = parse(readFileSync(kubeconfig, 'utf8')) as object
  const file = path.join(folder, name)
  writeFileSync(file, stringify({ ...admin, users: [{ name: 'u', user: { token: status.token } }] }))
  return file
}

/** Everything that Berth does with an engine, once. @throws what the API server refuses */
async function useAll(name: string, account: string): Promise<void> {
  const options = {
    kubeconfig: account,
    namespace,
    storageClass: null,
    timeouts: { scheduling: 20_000, retries: 3_000 },
  }
  const runtime = await createKubernetesRuntime({ ...options, installation: name })
  const heard: RuntimeEvent[] = []
  const away = new AbortController()
  runtime.watch((event) => void heard.push(event), away.signal)
  try {
    const home = { volume: `${name}-home`, path: '/home/berth', size: null }
    await Promise.all([runtime.ping(), runtime.prepare(), runtime.host()])
    const credentials = () => ({ username: 'puller', password: 'secret' })
    const { id } = await runtime.create({ ...plainSpec, name: `${name}-app`, image, home }, { credentials })
    await runtime.start(id)
    await runtime.logs(id, 5)
    assert.equal((await look(runtime, id)).state, 'running')
    assert.equal((await runtime.list()).length, 1)
    await eventually(() => assert.ok(heard.some((event) => event.id === id && event.action === 'start')), 3_000)
    const missing = await runtime.create({ ...plainSpec, name: `${name}-none`, image: '127.0.0.1:1/berth/nothing:1' })
    const waits: string[] = []
    await assert.rejects(
      runtime.start(missing.id, undefined, (wait) => void waits.push(wait)),
      ofKind('image'),
    )
    assert.deepEqual(waits, ['image'])
    await runtime.stop(id, undefined, 1)
    assert.equal((await runtime.homes()).length, 1)
    await runtime.removeHome(home.volume)
    assert.equal((await runtime.homes()).length, 0)
  } finally {
    away.abort()
  }
}

suite('rights and files of a deployment', { concurrency: 4 }, () => {
  after(async () => {
    rmSync(folder, { recursive: true })
    await removeNamespace()
  })

  test('every file is accepted by the API server', async () => {
    for (const manifest of manifests) {
      const { metadata } = manifest
      const place = metadata.namespace === undefined ? undefined : namespace
      const body = { ...manifest, metadata: { ...metadata, ...(place && { namespace }) } }
      await askCluster('POST', `${pathOf(manifest, place)}?dryRun=All`, body)
    }
  })

  test('the role is what berth doctor looks for', () => {
    const inRole = rules.map(({ resources, verbs }) => ({ resource: resources.join(), verbs }))
    assert.deepEqual(inRole, neededRights)
  })

  test('the role of helpers is all that files of homes need', async () => {
    const name = 'files'
    const helperRules = manifestsIn('role-of-helpers.yaml').find(({ kind }) => kind === 'Role')?.rules ?? []
    assert.deepEqual(
      helperRules.map(({ resources, verbs }) => ({ resource: resources.join(), verbs })),
      helperRights,
    )
    const use = async (account: string) => {
      const options = { kubeconfig: account, namespace, storageClass: null, helperImage: image, installation: name }
      const runtime = await createKubernetesRuntime(options)
      const home = { volume: `${name}-home`, path: '/home/berth', size: null }
      const { id } = await runtime.create({ ...plainSpec, name: `${name}-app`, image, home, awaitsFiles: true })
      const found = await runtime.containerFiles()?.status(id, '/home/berth', AbortSignal.timeout(60_000))
      assert.equal(found?.kind, 'folder')
      await runtime.remove(id)
    }
    await use(await accountWith(name, [...rules, ...helperRules]))
    await assert.rejects(use(await accountWith(`${name}-less`, rules)))
  })

  test('the rights of the role are all that Berth needs', async () => {
    await useAll('whole', await accountWith('whole', rules))
  })

  const each = rules.flatMap((rule, at) =>
    rule.verbs.map((verb) => ({ at, verb, of: `${verb} ${rule.resources.join()}` })),
  )
  for (const { at, verb, of } of each)
    test(`without the right to ${of} something fails`, async () => {
      const name = `without-${at}-${verb}`
      const less = rules.map((rule, index) =>
        index === at ? { ...rule, verbs: rule.verbs.filter((given) => given !== verb) } : rule,
      )
      await assert.rejects(
        useAll(
          name,
          await accountWith(
            name,
            less.filter(({ verbs }) => verbs.length > 0),
          ),
        ),
      )
    })
})
