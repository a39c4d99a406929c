import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { checksFor } from '@berth/cli/doctor/run-checks.ts'
import { checkCluster, checkPolicies, checkQuotas, checkRights, checkStorage } from '@berth/cli/doctor/check-cluster.ts'
import { checkClock } from '@berth/cli/doctor/check-host.ts'
import {
  engineOfCluster,
  quotas,
  report,
  rights,
  storageClasses,
  unboundHomes,
} from '#/engines/kubernetes/engine-inspection.ts'
import type { ClusterInspection } from '#/engines/engine-inspection.ts'
import { openStandIn, reply, status, type Answer } from '#test/support/cluster/stand-in-api.ts'
import { contextFor, inWords } from './check-context.ts'
import type { TestContext } from 'node:test'

/** Checks of `berth doctor` with ENGINE=kubernetes, against a stand-in; npm run test:cluster has the real one. */

const now = new Date('2026-11-23T12:00:00Z')
const allowed = (isAllowed: boolean) => ({ status: { allowed: isAllowed } })

/** What a healthy cluster answers to an account that has the role and no more. */
function healthy({ path, body }: Parameters<Answer>[0], response: Parameters<Answer>[1]) {
  if (path === '/version') return reply(response, 200, { gitVersion: 'v1.37.1' })
  if (path.endsWith('/selfsubjectaccessreviews')) {
    const { verb, resource, subresource } = (body as { spec: { resourceAttributes: Record<string, string> } }).spec
      .resourceAttributes
    const isSpare =
      subresource === 'exec' ||
      subresource === 'token' ||
      (resource === 'secrets' && verb !== 'create' && verb !== 'update')
    return reply(response, 201, allowed(!isSpare))
  }
  if (path.endsWith('/storageclasses') || path.endsWith('/resourcequotas'))
    return reply(response, 403, status(403, 'Forbidden'))
  return reply(response, 200, { metadata: {}, items: [] })
}

async function openContext(t: TestContext, answer: Answer = healthy, settings: Record<string, string> = {}) {
  const { cluster } = await openStandIn(t, answer)
  const inspected = { client: cluster.client, server: 'https://10.0.0.1:6443', namespace: 'ns', runsCommands: false }
  const inspection: ClusterInspection = {
    report: () => report(inspected),
    rights: () => rights(inspected),
    storageClasses: () => storageClasses(inspected),
    unboundHomes: (at) => unboundHomes(inspected, at),
    quotas: () => quotas(inspected),
  }
  return contextFor(
    t,
    { ENGINE: 'kubernetes', ...settings },
    { cluster: inspection, engine: engineOfCluster(inspection), now },
  )
}

const answering =
  (ending: string, body: unknown, code = 200): Answer =>
  (asked, response) =>
    asked.path.endsWith(ending) ? reply(response, code, body) : healthy(asked, response)

test('on a cluster the checks of a cluster take the place of those of an engine on this machine', () => {
  const names = checksFor({
    kubernetes: { kubeconfig: undefined, namespace: null, storageClass: null, helperImage: null, toolImage: null },
  }).map(({ name }) => name)
  assert.deepEqual(names.slice(0, 5), ['cluster', 'rights', 'policies', 'storage', 'quotas'])
  for (const name of ['engine', 'images', 'host rules']) assert.ok(!names.includes(name), name)
  for (const name of ['store', 'clock', 'backups']) assert.ok(names.includes(name), name)
})

test('a healthy cluster and an account with the role alone have no findings', async (t) => {
  const context = await openContext(t)
  for (const check of [checkCluster, checkRights, checkStorage]) assert.deepEqual(await check(context), [])
})

test('a cluster that does not answer is critical; one without fixes a warning, by the version and the day', async (t) => {
  const dead = await openContext(t, answering('/version', status(503, 'Unavailable'), 503))
  assert.match(inWords(await checkCluster(dead)), /^critical: The cluster does not answer .*503/)
  const old = await openContext(t, answering('/version', { gitVersion: 'v1.20.2' }))
  assert.match(inWords(await checkCluster(old)), /^warning: Kubernetes 1\.20\.2 gets no fixes/)
  const later = await openContext(t, answering('/version', { gitVersion: 'v1.34.3+k3s1' }))
  assert.match(inWords(await checkCluster(later)), /^warning: .*2026-10-27/)
  assert.deepEqual(await checkCluster({ ...later, now: new Date('2026-10-01') }), [])
})

test('rights that are missing are critical and named; those of an administrator are a warning', async (t) => {
  const none = await openContext(t, answering('/selfsubjectaccessreviews', allowed(false), 201))
  const [lacking = '', ...others] = inWords(await checkRights(none)).split('\n')
  assert.match(lacking, /^critical: .*may not get pods, list pods, watch pods, .*update secrets in the namespace/)
  assert.deepEqual(others, [])
  const all = await openContext(t, answering('/selfsubjectaccessreviews', allowed(true), 201))
  assert.match(inWords(await checkRights(all)), /^warning: .*may also get secrets, list secrets, create pods\/exec/)
})

test('policies are what the trial of the running service says; without one nothing is claimed', async (t) => {
  const context = await openContext(t)
  const service = (rules: string) => ({ host: { rules } }) as SystemReport
  assert.deepEqual(await checkPolicies({ ...context, service: service('set') }), [])
  const off = await checkPolicies({ ...context, service: service('not set: a pod was reached') })
  assert.match(inWords(off), /^critical: NetworkPolicies do not keep .*a pod was reached/)
  await assert.rejects(checkPolicies({ ...context, service: service('not known') }), /no result so far/)
  await assert.rejects(checkPolicies(context), /a running Berth tries/)
})

test('a storage class that is missing, none by default, and homes that wait for a volume are found', async (t) => {
  const classes = (...items: object[]) => answering('/storageclasses', { metadata: {}, items })
  const fast = { metadata: { name: 'fast', uid: '1' } }
  const named = await openContext(t, classes(fast), { KUBERNETES_STORAGE_CLASS: 'slow' })
  assert.match(inWords(await checkStorage(named)), /^critical: The cluster has no storage class slow/)
  const none = await openContext(t, classes(fast))
  assert.match(inWords(await checkStorage(none)), /^critical: The cluster has no default storage class/)
  const claim = (name: string, minutes: number) => ({
    metadata: { name, uid: name, creationTimestamp: new Date(now.getTime() - minutes * 60_000).toISOString() },
    status: { phase: 'Pending' },
  })
  const items = [claim('old', 6), claim('new', 1)]
  const waiting = await openContext(t, answering('/persistentvolumeclaims', { metadata: {}, items }))
  assert.match(inWords(await checkStorage(waiting)), /^warning: 1 homes have waited .*: old\.$/)
})

test('a quota that is nearly used up is a warning, a full one critical; without the right it is not checked', async (t) => {
  const quota = (hard: Record<string, string>, used: Record<string, string>) =>
    answering('/resourcequotas', { metadata: {}, items: [{ metadata: { name: 'few' }, status: { hard, used } }] })
  const near = await openContext(
    t,
    quota({ pods: '10', 'requests.memory': '10Gi' }, { pods: '9', 'requests.memory': '512Mi' }),
  )
  assert.match(
    inWords(await checkQuotas(near)),
    /^warning: The quota few allows pods of 10, of which 9 are used[^\n]*$/,
  )
  const full = await openContext(t, quota({ 'requests.cpu': '2' }, { 'requests.cpu': '2000m' }))
  assert.match(inWords(await checkQuotas(full)), /^critical: .*launches that need it are refused/)
  await assert.rejects(checkQuotas(await openContext(t)), /may not list quotas/)
})

test('the clock is compared with that of the API server', async (t) => {
  const context = await openContext(t)
  const late = { ...context, now: new Date(Date.now() - 60_000) }
  const found = inWords(await checkClock(late, AbortSignal.timeout(10_000)))
  assert.match(found, /^warning: The clock is (59|60|61) s behind that of the engine/)
})
