import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { clusterImage, kubeconfig, makeNamespace } from '../support/cluster/cluster-api.ts'
import { signUpOnCluster } from '../support/cluster/cluster-person.ts'
import { applyPolicies, isolates } from '../support/cluster/policies.ts'
import { runCommand } from '../support/command-line.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { runProgram } from '../support/program.ts'

/**
 * Part of `npm run test:cluster` where the network plugin enforces NetworkPolicies (`BERTH_TEST_ISOLATES=yes`): what an operator
 * reads of the trial of policies, and that users work under them.
 */

const skip = !isolates && 'the network of this cluster enforces no policies'
const image = skip ? '' : await clusterImage()

const template = {
  display_name: 'Development',
  description: '',
  image,
  port: 8080,
  memory: '64m',
  home: '/data',
  command: ['/bin/sh', '-c', 'cd /data; [ -f note ] || date > note; exec httpd -f -p 8080'],
}

interface DoctorReport {
  readonly findings: readonly { readonly check: string; readonly level: string; readonly what: string }[]
  readonly passed: readonly string[]
}

/** Berth with these policies of deploy/kubernetes in its namespace. @param policies none: all of them */
async function startUnder(t: TestContext, ...policies: readonly string[]) {
  const namespace = `test-${randomBytes(4).toString('hex')}`
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-trial-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  t.after(await makeNamespace(namespace))
  await applyPolicies(namespace, ...policies)
  const settings = {
    ENGINE: 'kubernetes',
    KUBECONFIG: kubeconfig,
    KUBERNETES_NAMESPACE: namespace,
    ADMIN_EMAILS: 'ann@x.org',
    CONTAINER_TEMPLATES: JSON.stringify({ dev: template }),
  }
  const berth = runProgram(t, settings, dataDir)
  return {
    berth,
    ann: await signUpOnCluster(berth, namespace, 'ann@x.org'),
    doctor: async () => {
      const { stdout } = await runCommand({ ...settings, DATA_DIR: dataDir }, 'doctor', '--json')
      return JSON.parse(stdout) as DoctorReport
    },
  }
}

suite('the trial of NetworkPolicies at the start, on a network that enforces them', { skip }, () => {
  test('log, doctor and the system page say that they are enforced, and a user launches and opens the page', async (t) => {
    const { berth, ann, doctor } = await startUnder(t)
    await berth.said(/NetworkPolicies are enforced/)
    await eventually(async () => {
      const { host } = (await ann.json('/api/admin/system')).body as { host: object }
      assert.partialDeepStrictEqual(host, { rules: 'set', rules_are: 'policies' })
    }, 60_000)
    const { findings, passed } = await doctor()
    assert.ok(passed.includes('policies'), JSON.stringify(findings))
    assert.doesNotMatch(berth.output(), /no NetworkPolicies/)

    const launched = await ann.json('/api/container/launch/dev', 'POST')
    assert.equal(launched.status, 200, JSON.stringify(launched.body))
    await eventually(async () => assert.equal((await ann.page('dev', 'note')).status, 200))
  })

  test('without the policy of the trial all three say that they are not', async (t) => {
    const { berth, ann, doctor } = await startUnder(t, 'berth-containers')
    await berth.said(/no NetworkPolicies keep containers from each other/)
    await eventually(async () => {
      const { host, warnings } = (await ann.json('/api/admin/system')).body as {
        host: { rules: string }
        warnings: object
      }
      assert.match(host.rules, /^not set: a pod that the NetworkPolicy berth-trial closes was reached/)
      assert.match(JSON.stringify(warnings), /NetworkPolicies do not keep containers apart/)
    }, 60_000)
    const found = (await doctor()).findings.filter(({ check }) => check === 'policies')
    assert.deepEqual(
      found.map(({ level }) => level),
      ['critical'],
    )
  })
})
