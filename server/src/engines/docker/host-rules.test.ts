import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { HostRulesReport } from '#/engines/runtime.ts'
import { HostRules, chainsFor } from './host-rules.ts'

/**
 * How the rules get into a host's firewall, and stay there. Each test has a network of its own, with a firewall of its
 * own, as `ip netns` makes them; where this process may not make one, nothing can be tried.
 */
const call = promisify(execFile)
const needs = 'ip link && iptables-save && ip6tables-save && test -e /proc/sys/net/bridge/bridge-nf-call-iptables'
const isPossible = spawnSync('unshare', ['--net', 'sh', '-c', needs]).status === 0
const skip = isPossible ? false : 'needs root, iproute2, iptables and br_netfilter'

const program = `
import { HostRules } from '${path.join(import.meta.dirname, 'host-rules.ts')}'
const rules = new HostRules('auto', true)
await rules.ensure(process.argv.slice(1))
process.stdout.write(JSON.stringify(rules.report))`

interface Net {
  /** What a shell in it prints. */
  sh(script: string): Promise<string>
  /** Another program of Berth's, whose containers are on these bridges, makes ready. */
  ensure(...bridges: string[]): Promise<HostRulesReport>
  /** Every rule that is set: `4 -A INPUT -j BERTH-INPUT`, and with a 6 those of IPv6. */
  rules(): Promise<string[]>
}

/** With one bridge of ours, and one of an earlier version's. */
async function openNet(t: TestContext): Promise<Net> {
  const name = `berth-rules-${randomBytes(4).toString('hex')}`
  await call('ip', ['netns', 'add', name])
  t.after(() => call('ip', ['netns', 'delete', name]))
  const inside = async (...words: string[]) => (await call('ip', ['netns', 'exec', name, ...words])).stdout
  const sh: Net['sh'] = (script) => inside('sh', '-c', script)
  await sh('ip link add brth-0a1b2c3d type bridge; ip link add br-0123456789ab type bridge')
  return {
    sh,
    ensure: async (...bridges) =>
      JSON.parse(await inside(process.execPath, '--input-type=module', '-e', program, ...bridges)) as HostRulesReport,
    rules: async () => {
      const saved = await sh('iptables-save | sed -n "s/^-A/4 -A/p"; ip6tables-save | sed -n "s/^-A/6 -A/p"')
      return saved.trimEnd().split('\n').filter(Boolean)
    },
  }
}

const [ours, old] = ['brth-0a1b2c3d', 'br-0123456789ab']
const isSet = { areSet: true }

test('rules are set for both families, entered first thing; set again, nothing is there twice', { skip }, async (t) => {
  const net = await openNet(t)
  await net.sh('iptables -A INPUT -p tcp --dport 22 -j ACCEPT')
  assert.deepEqual(await net.ensure(ours), isSet)
  const rules = await net.rules()
  const entrances = rules.filter((rule) => /-A (INPUT|FORWARD) /.test(rule))
  assert.deepEqual(entrances, [
    '4 -A INPUT -j BERTH-INPUT',
    '4 -A INPUT -p tcp -m tcp --dport 22 -j ACCEPT',
    '4 -A FORWARD -j BERTH-FORWARD',
    '6 -A INPUT -j BERTH-INPUT',
    '6 -A FORWARD -j BERTH-FORWARD',
  ])
  assert.deepEqual(await net.ensure(ours), isSet)
  assert.deepEqual(await net.rules(), rules)
})

test(
  "where Docker has its chain for other people's rules, they are entered there, before Docker's own",
  { skip },
  async (t) => {
    const net = await openNet(t)
    await net.sh('iptables -N DOCKER-USER; iptables -A DOCKER-USER -j RETURN; iptables -A FORWARD -j DOCKER-USER')
    assert.deepEqual(await net.ensure(ours), isSet)
    assert.deepEqual(
      (await net.rules()).filter((rule) => /^4 -A (FORWARD|DOCKER-USER) /.test(rule)),
      ['4 -A FORWARD -j DOCKER-USER', '4 -A DOCKER-USER -j BERTH-FORWARD', '4 -A DOCKER-USER -j RETURN'],
    )
  },
)

test('what others put before ours, changed in ours or took away is put right the next time', { skip }, async (t) => {
  const net = await openNet(t)
  await net.ensure(ours)
  const rules = await net.rules()
  for (const damage of [
    'iptables -I INPUT 1 -s 203.0.113.7 -j ACCEPT',
    'iptables -F BERTH-TO-HOST',
    'iptables -I BERTH-BEYOND 1 -j RETURN',
    'iptables -D INPUT -j BERTH-INPUT; iptables -A INPUT -j BERTH-INPUT; iptables -A INPUT -j BERTH-INPUT',
    'ip6tables -F; ip6tables -X',
  ]) {
    await net.sh(damage)
    assert.deepEqual(await net.ensure(ours), isSet, damage)
    const now = (await net.rules()).filter((rule) => !rule.includes('203.0.113.7'))
    assert.deepEqual(now.toSorted(), rules.toSorted(), damage)
  }
})

test('of six Berths that set them at the same moment all succeed, and they are there once', { skip }, async (t) => {
  const net = await openNet(t)
  for (const report of await Promise.all(Array.from({ length: 6 }, () => net.ensure(ours))))
    assert.deepEqual(report, isSet)
  await net.ensure(ours)
  const rules = await net.rules()
  assert.deepEqual([...new Set(rules)], rules)
})

test(
  'a bridge with another name is covered, and stays so for a Berth that does not know it, until it is gone',
  { skip },
  async (t) => {
    const net = await openNet(t)
    const covered = async () => (await net.rules()).filter((rule) => rule.includes(old)).length
    await net.ensure(ours, old)
    assert.equal(await covered(), 6)
    await net.ensure(ours)
    assert.equal(await covered(), 6)
    await net.sh(`ip link delete ${old}`)
    await net.ensure(ours)
    assert.equal(await covered(), 0)
  },
)

test('bridging past the rules is switched off, whatever switched it on', { skip }, async (t) => {
  const net = await openNet(t)
  const switches = '/proc/sys/net/bridge/bridge-nf-call-iptables /proc/sys/net/bridge/bridge-nf-call-ip6tables'
  await net.sh(`for each in ${switches}; do echo 0 > $each; done`)
  assert.deepEqual(await net.ensure(ours), isSet)
  assert.equal(await net.sh(`cat ${switches}`), '1\n1\n')
})

test('an engine whose bridges are elsewhere is recognized, and nothing is set', { skip }, async (t) => {
  const net = await openNet(t)
  const report = await net.ensure('brth-ffffffff')
  assert.ok(!report.areSet && /not in the network that Berth sees/.test(report.reason))
  assert.deepEqual(await net.rules(), [])
})

test('docs/how-to/set-host-rules.md has the very rules, for those who set them by hand', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/how-to/set-host-rules.md'), 'utf8')
  const written = page.split('\n').filter((line) => line.startsWith('-A '))
  const set = chainsFor('ipv4', []).flatMap(({ name, rules }) => rules.map((rule) => `-A ${name} ${rule}`))
  assert.deepEqual(written, set)
})

test('HOST_RULES=off and an engine on another machine are reasons in words', async () => {
  for (const [rules, reason] of [
    [new HostRules('off', true), /HOST_RULES is off/],
    [new HostRules('auto', false), /not on this machine/],
  ] as const) {
    await rules.ensure([ours])
    const { report } = rules
    assert.ok(report && !report.areSet)
    assert.match(report.reason, reason)
  }
})

// `berth doctor` called rules critical that were set, in the first seconds after a start or a reload.
test('before the first look nothing is said about the rules', () =>
  assert.equal(new HostRules('auto', true).report, null))
