/** Facts of the package on a stock Debian, in the order in which an operator meets them; run by test.mjs. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { env } from 'node:process'
import { test } from 'node:test'
import { fileServer } from './file-server.mjs'
import { Installation } from './installation.mjs'
import { limits } from './limits.mjs'
import { network } from './network.mjs'
import { operation } from './operation.mjs'
import { templates } from './templates.mjs'
import { startVm, suites } from './vm.mjs'

/** @import { Fact } from './installation.mjs' */
/** @import { Suite } from './vm.mjs' */

const suite = /** @type {Suite} */ (env.BERTH_VM_SUITE ?? 'trixie')
const isKept = env.BERTH_VM_KEEP === 'yes'
/** @type {string[]} facts that are shown have one of them in their sentence; without one all are */
const words = JSON.parse(env.BERTH_VM_WORDS ?? '[]')
const dist = resolve(import.meta.dirname, '../../dist')
const name = existsSync(dist) ? readdirSync(dist).find((each) => each.endsWith('_amd64.deb')) : undefined
if (name === undefined) throw new Error('dist/ has no Debian package: npm run release')
const deb = join(dist, name)

/** Without these there is nothing to show. @type {readonly Fact[]} */
const beginning = [
  [
    'the package is installed, and the service and the timer of backups run',
    async ({ vm, berth }) => {
      await vm.copyIn(deb, '/root/berth.deb')
      await vm.run('dpkg --install /root/berth.deb', { limitMs: 1_800_000 })
      await berth.ready()
      assert.match(await vm.run('systemctl is-active berth.service berth-backup.timer'), /^active\nactive$/m)
    },
  ],
  [
    'a user signs up, signs in and launches a container, which is made from files of this machine',
    async ({ vm, berth }) => {
      await berth.enter('signup')
      assert.equal(await berth.status('/ann-dev/'), 200)
      // AppArmor holds it, with the profile of the engine.
      assert.match(await berth.inContainer('dev', 'cat /proc/1/attr/current'), /^docker-default \(enforce\)/m)
      assert.equal(await vm.run('systemctl --failed --no-legend'), '')
      assert.doesNotMatch(await vm.run('journalctl --unit berth --no-pager'), /EPERM|EACCES|EROFS|denied/)
    },
  ],
  [
    'a reload takes other templates',
    async ({ vm, berth }) => {
      await vm.run('cat >/etc/berth/templates.json && chmod 0644 /etc/berth/templates.json', { input: templates })
      // A kept machine signs in at each run.
      const more = 'CONTAINER_TEMPLATES_FILE=/etc/berth/templates.json\\nMAGIC_LINK_RATE_LIMIT=100\\n'
      await vm.run(`printf '${more}' >>/etc/berth/berth.env`)
      // Beside other work the new process may not come up within the minute that it has; the old one goes on then.
      const isBack = 'journalctl --unit berth --no-pager | grep --quiet "the API is back"'
      const reload = `systemctl reload berth; for each in $(seq 20); do sleep 4; ! ${isBack} || exit 0; done; exit 1`
      await vm.until('the new process serves', reload, 600_000)
      await berth.launch('web')
    },
  ],
]

/** @type {readonly Fact[]} */
const ofTheMachine = [
  [
    'the machine is an ordinary one: control groups of version 2, kept by systemd, AppArmor, nftables',
    async ({ vm }) => {
      assert.match(await vm.run("docker info --format '{{.CgroupVersion}} {{.CgroupDriver}}'"), /^2 systemd$/m)
      assert.match(await vm.run("docker info --format '{{.SecurityOptions}}'"), /name=apparmor.*name=seccomp/)
      assert.match(await vm.run('iptables --version'), /nf_tables/)
    },
  ],
  [
    'the service, an account without root, has set the rules of the host under nftables',
    async ({ vm }) => {
      assert.match(await vm.run('iptables-save'), /-A INPUT -j BERTH-INPUT/)
      assert.match(await vm.run('nft list chain ip filter INPUT'), /jump BERTH-INPUT/)
    },
  ],
]

/** On a kept machine: the package and the templates of now, where they have changed. @type {Fact} */
const again = [
  'the kept machine has the package and the templates of now',
  async ({ vm, berth }) => {
    const sum = execFileSync('sha256sum', { input: readFileSync(deb), encoding: 'utf8' }).slice(0, 64)
    if (!(await vm.run('sha256sum /root/berth.deb')).startsWith(sum)) {
      await vm.copyIn(deb, '/root/berth.deb')
      await vm.run('dpkg --install /root/berth.deb && systemctl restart berth', { limitMs: 1_800_000 })
      await berth.ready()
    }
    if ((await vm.run('cat /etc/berth/templates.json')) !== templates)
      await vm.run('cat >/etc/berth/templates.json && systemctl restart berth', { input: templates })
    await berth.ready()
    await berth.enter('login')
  },
]

test(`the package on ${suites[suite]}`, async (t) => {
  const begun = performance.now()
  const vm = await startVm(t, suite, isKept)
  const berth = new Installation(vm)
  t.diagnostic(`booted in ${seconds(begun)} s`)
  let isFailed = false
  /** @param {Fact} fact */
  const see = ([what, show]) =>
    t.test(what, async (t) => {
      const begun = performance.now()
      try {
        // One that failed may have left the person signed out.
        if (isFailed) await berth.enter('login').catch(() => undefined)
        await show({ vm, berth, deb }, t)
      } catch (error) {
        isFailed = true
        const log = await vm
          .run('journalctl --unit berth --no-pager --lines 30; docker ps --all; free -m')
          .catch(String)
        const failure = new Error(`${String(error)}\n${log}`, { cause: error })
        // The runner shows it once all facts are seen, which may be in an hour.
        t.diagnostic(failure.message)
        throw failure
      } finally {
        t.diagnostic(`${seconds(begun)} s`)
      }
    })

  const hasBegun = isKept && (await vm.run('cat /etc/berth/templates.json 2>/dev/null || true')) !== ''
  for (const fact of hasBegun ? [again] : beginning) {
    await see(fact)
    if (isFailed) return
  }
  /** @param {Fact} fact */
  const isWanted = ([what]) => words.length === 0 || words.some((word) => what.includes(word))
  for (const fact of [...ofTheMachine, ...limits, ...operation, ...network, ...fileServer].filter(isWanted))
    await see(fact)
})

/** @param {number} begun */
const seconds = (begun) => Math.round((performance.now() - begun) / 1000)
