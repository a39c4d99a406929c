/** Facts of the package on a stock Debian, in the order in which an operator meets them; run by test.mjs. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { env } from 'node:process'
import { test } from 'node:test'
import { Installation } from './installation.mjs'
import { operation } from './operation.mjs'
import { templates } from './templates.mjs'
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
  /** @param {string} what @param {(t: import('node:test').TestContext) => Promise<unknown>} fact */
  const fact = (what, fact) =>
    t.test(what, async (t) => {
      const begun = performance.now()
      try {
        await fact(t)
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

  await fact('the service, an account without root, has set the rules of the host under nftables', async () => {
    assert.match(await vm.run('iptables-save'), /-A INPUT -j BERTH-INPUT/)
    assert.match(await vm.run('nft list chain ip filter INPUT'), /jump BERTH-INPUT/)
  })

  await fact('a reload takes other templates', async () => {
    await vm.run('cat >/etc/berth/templates.json', { input: templates })
    await vm.run('echo CONTAINER_TEMPLATES_FILE=/etc/berth/templates.json >>/etc/berth/berth.env')
    await vm.run('chmod 0644 /etc/berth/templates.json && systemctl reload berth')
    await vm.until('the new process serves', 'journalctl --unit berth --no-pager | grep --quiet "the API is back"')
    for (const type of ['web', 'hungry', 'sleepy']) await berth.launch(type)
  })

  await fact('memory, swap, processes and cores of a container have the limits of its template', async () => {
    assert.equal(await berth.control('web', 'memory.max'), String(48 * 1024 ** 2))
    assert.equal(await berth.control('web', 'memory.swap.max'), '0')
    assert.equal(await berth.control('web', 'cpu.max'), '50000 100000')
    const many = 'for i in $(seq 100); do sleep 5 & done; wait'
    await assert.rejects(berth.inContainer('web', many), /can't fork: Resource temporarily unavailable/)
    assert.match(await berth.control('web', 'pids.events'), /^max [1-9]/m)
    await berth.inContainer('web', 'timeout 5 sh -c "while :; do :; done" || true')
    assert.match(await berth.control('web', 'cpu.stat'), /^nr_throttled [1-9]/m)
    assert.equal(await berth.status('/ann-web/'), 200)
  })

  await fact('a program that takes more memory than its limit is ended alone, and its owner reads why', async () => {
    const id = await berth.id('hungry')
    await berth.inContainer('hungry', 'touch /tmp/eat')
    await vm.until('it ends', `docker inspect --format '{{.State.OOMKilled}}' ${id} | grep --quiet true`)
    const { status, body } = await berth.call('/ann-hungry/')
    assert.equal(status, 503)
    assert.match(body, /hungry ran out of memory/)
    assert.equal(await berth.status('/ann-web/'), 200)
  })

  await fact('an idle container is paused by the freezer, and the next request wakes it', async () => {
    const id = await berth.id('sleepy')
    await vm.until('it is paused', `docker inspect --format '{{.State.Status}}' ${id} | grep --quiet paused`)
    assert.match(await berth.control('sleepy', 'cgroup.events'), /^frozen 1$/m)
    await berth.answers('sleepy')
  })

  await fact('the timer waits for the night, and its service makes a backup with homes', async () => {
    assert.match(await vm.run('systemctl list-timers --no-legend berth-backup.timer'), / 02:\d\d:\d\d .*berth-backup/)
    await vm.run('systemctl start berth-backup.service', { limitMs: 900_000 })
    assert.match(await vm.run('ls /var/backups/berth/berth-*/homes'), /\.tar/)
  })

  for (const [what, shown] of operation) await fact(what, (t) => shown({ vm, berth, deb }, t))
})

/** @param {number} begun */
const seconds = (begun) => Math.round((performance.now() - begun) / 1000)
