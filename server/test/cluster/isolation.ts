import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { askCluster } from '../support/cluster/cluster-api.ts'
import { openCluster } from '../support/cluster/cluster-rig.ts'
import { isolates } from '../support/cluster/policies.ts'
import { eventually, ofKind } from '../support/engine/runtimes.ts'

/**
 * Part of `npm run test:cluster`: the trial of NetworkPolicies. The network of the own cluster enforces none, unless one who has added a
 * plugin says so by `BERTH_TEST_ISOLATES=yes`.
 */

interface TrialPod {
  readonly metadata: { readonly name: string }
  readonly status: { readonly podIP?: string }
}

const isOwn = process.env.BERTH_TEST_CLUSTER_IS_OWN !== undefined
const run = promisify(execFile)
const rig = await openCluster()
const { runtime, installation, spec } = rig
const program = { ...spec('trial'), home: null, kubernetes: null }
const trials = async (kind: string) =>
  (
    await askCluster<{ items: TrialPod[] }>(
      'GET',
      `/api/v1/namespaces/${installation}/pods?labelSelector=berth.trial%3D${kind}`,
    )
  ).items

/** What a network that enforces policies does to the closed pod: its packets go nowhere. @returns how it ends */
async function closeTrial(): Promise<() => Promise<void>> {
  const address = await eventually(async () => {
    const [pod] = await trials('closed')
    assert.ok(pod?.status.podIP)
    return pod.status.podIP
  }, 60_000)
  await run('ip', ['-n', 'kc', 'route', 'add', 'blackhole', `${address}/32`])
  return async () => void (await run('ip', ['-n', 'kc', 'route', 'del', 'blackhole', `${address}/32`]))
}

suite('the trial of NetworkPolicies', () => {
  after(() => rig.close())
  const trial = runtime.isolationTrial()
  assert.ok(trial)

  test('a network that enforces no policies is reported as such, and the pods of the trial go', async (t) => {
    if (!isOwn || isolates) return t.skip('the network of this cluster is not known, or enforces policies')
    const report = await trial(program, AbortSignal.timeout(120_000))
    assert.ok(!report.areSet)
    assert.match(report.reason, /was reached/)
    assert.deepEqual((await runtime.host()).rules, report)
    await eventually(async () => assert.deepEqual([...(await trials('open')), ...(await trials('closed'))], []))
    assert.deepEqual(await runtime.list(), [])
  })

  test('a network that keeps this process from the closed pod is reported as enforcing', async (t) => {
    if (!isOwn || isolates) return t.skip('the network of this cluster is not known, or enforces policies')
    const [report, undo] = await Promise.all([trial(program, AbortSignal.timeout(120_000)), closeTrial()])
    t.after(undo)
    assert.deepEqual(report, { areSet: true })
    assert.deepEqual((await runtime.host()).rules, { areSet: true })
  })

  test('a network plugin that enforces policies is reported as such, each time', async (t) => {
    if (!isolates) return t.skip('the network of this cluster enforces no policies')
    for (let times = 0; times < 3; times++)
      assert.deepEqual(await trial(program, AbortSignal.timeout(120_000)), { areSet: true })
  })

  test('a program that does not listen leaves it unknown', async () => {
    const silent = { ...program, command: ['/bin/sh', '-c', 'exit 1'] }
    await assert.rejects(trial(silent, AbortSignal.timeout(120_000)), ofKind('failed'))
  })
})
