/** Facts of the package on a stock Debian, in the order in which an operator meets them; run by test.mjs. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { env } from 'node:process'
import { test } from 'node:test'
import { Installation } from './installation.mjs'
import { startVm, suites } from './vm.mjs'

/** @import { Suite } from './vm.mjs' */

const suite = /** @type {Suite} */ (env.BERTH_VM_SUITE ?? 'trixie')
const dist = resolve(import.meta.dirname, '../../dist')
const name = existsSync(dist) ? readdirSync(dist).find((each) => each.endsWith('_amd64.deb')) : undefined
if (name === undefined) throw new Error('dist/ has no Debian package: npm run release')
const deb = join(dist, name)

test(`the package on ${suites[suite]}`, async (t) => {
  const begun = performance.now()
  const vm = await startVm(t, suite)
  const berth = new Installation(vm)
  t.diagnostic(`booted in ${seconds(begun)} s`)
  /** @param {string} what @param {() => Promise<unknown>} fact */
  const fact = (what, fact) =>
    t.test(what, async (t) => {
      const begun = performance.now()
      try {
        await fact()
      } catch (error) {
        const log = await vm
          .run('journalctl --unit berth --no-pager --lines 30; docker ps --all; free -m')
          .catch(String)
        throw new Error(`${String(error)}\n${log}`, { cause: error })
      } finally {
        t.diagnostic(`${seconds(begun)} s`)
      }
    })

  await fact(
    'the machine is an ordinary one: control groups of version 2, kept by systemd, AppArmor, nftables',
    async () => {
      assert.match(await vm.run("docker info --format '{{.CgroupVersion}} {{.CgroupDriver}}'"), /^2 systemd$/m)
      assert.match(await vm.run("docker info --format '{{.SecurityOptions}}'"), /name=apparmor.*name=seccomp/)
      assert.match(await vm.run('iptables --version'), /nf_tables/)
    },
  )

  await fact('the package is installed, and the service and the timer of backups run', async () => {
    await vm.copyIn(deb, '/root/berth.deb')
    await vm.run('dpkg --install /root/berth.deb', { limitMs: 1_200_000 })
    await berth.ready()
    assert.match(await vm.run('systemctl is-active berth.service berth-backup.timer'), /^active\nactive$/m)
  })

  await fact(
    'a user signs up, signs in and launches a container, which is made from files of this machine',
    async () => {
      await berth.enter('signup')
      assert.equal(await berth.status('/ann-dev/'), 200)
      // AppArmor holds it, with the profile of the engine.
      assert.match(await berth.inContainer('dev', 'cat /proc/1/attr/current'), /^docker-default \(enforce\)/m)
      assert.equal(await vm.run('systemctl --failed --no-legend'), '')
      assert.doesNotMatch(await vm.run('journalctl --unit berth --no-pager'), /EPERM|EACCES|EROFS|denied/)
    },
  )
})

/** @param {number} begun */
const seconds = (begun) => Math.round((performance.now() - begun) / 1000)
