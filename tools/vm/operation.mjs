import assert from 'node:assert/strict'
import { olderPackage } from '../release/test/older-package.mjs'
import { longLived } from './templates.mjs'

/** @import { Fact } from './installation.mjs' */

/** One of those that stay. */
const type = 'kept1'

/** In ms: a start of Node, or of the engine with twenty containers, takes minutes where all is emulated. */
const slow = 1_800_000

/**
 * What an operator does with an installation that runs, and what happens to it: each a sentence and what shows it.
 * @type {readonly Fact[]}
 */
export const operation = [
  [
    'the timer waits for the night, and its service makes a backup with homes',
    async ({ vm }) => {
      assert.match(await vm.run('systemctl list-timers --no-legend berth-backup.timer'), / 02:\d\d:\d\d .*berth-backup/)
      await vm.run('systemctl start berth-backup.service', { limitMs: slow })
      assert.match(await vm.run('ls /var/backups/berth/berth-*/homes'), /\.tar/)
    },
  ],
  [
    'doctor raises no alarm, and warns only of versions, limits and the clock of this Debian',
    async ({ berth }) => {
      // Debian mends faults under the same number of a version, and the network of this machine may have no time server.
      const isKnown = (/** @type {string} */ check) => ['engine', 'inotify', 'clock'].includes(check)
      const alarms = (await berth.findings()).filter(
        ({ check, level }) => level === 'critical' || (level !== 'hint' && !isKnown(check)),
      )
      assert.deepEqual(alarms, [])
    },
  ],
  [
    'doctor attack gets nothing that this machine protects',
    async ({ berth }) => {
      /** @type {{ got: { attempt: string, level: string }[], tried: unknown[], not_tried: { reason: string }[] }} */
      const { got, tried, not_tried: notTried } = await berth.json('berth doctor attack --type dev --json')
      // No quota limits the disk, and times of an emulated machine that does other work say nothing.
      const isKnown = (/** @type {string} */ attempt) => ['disk', 'listings', 'pieces'].includes(attempt)
      const attained = got.filter(({ attempt, level }) => level === 'critical' || !isKnown(attempt))
      // Each attempt has a minute.
      const untried = notTried.filter(({ reason }) => !reason.startsWith('no result in'))
      assert.deepEqual({ attained, untried }, { attained: [], untried: [] })
      assert.ok(tried.length > 10, JSON.stringify(tried))
    },
  ],
  [
    'twenty containers answer again after a reboot, each with its home, without a sign-in',
    async ({ vm, berth }, t) => {
      /** @type {string[]} */
      const before = []
      for (const each of longLived) before.push(await berth.launch(each))
      assert.equal(new Set(before).size, longLived.length)
      const took = await vm.reboot()
      t.diagnostic(`rebooted in ${Math.round(took / 1000)} s`)
      await berth.ready()
      /** @type {string[]} */
      const after = []
      for (const each of longLived) after.push(await berth.answers(each))
      assert.deepEqual(after, before)
      assert.match(await vm.run('iptables-save'), /-A INPUT -j BERTH-INPUT/)
      // Starts of the engine take minutes with them, and no other fact needs so many.
      for (const each of longLived.slice(3))
        assert.equal((await berth.call(`/api/container/stop/${each}`, 'POST')).status, 200)
    },
  ],
  [
    'an upgrade, and the way back, keep settings, session, home and container',
    async ({ vm, berth, deb }, t) => {
      const before = { page: await berth.launch(type), id: await berth.id(type) }
      await vm.copyIn(olderPackage(t, deb), '/root/older.deb')
      for (const file of ['older', 'berth']) {
        await vm.run(`dpkg --install /root/${file}.deb`, { limitMs: slow })
        // The old process answers until the new one takes its place: what follows would meet the middle of it.
        const log = 'journalctl --unit berth --boot --no-pager'
        const count = (/** @type {string} */ words) => `$(${log} | grep --count "${words}")`
        const isOver = `test ${count('is loaded to replace the old one')} -le ${count('the API is back')}`
        await vm.until('the new process serves', isOver, 600_000)
        await berth.ready()
        assert.deepEqual({ page: await berth.answers(type), id: await berth.id(type) }, before)
      }
      assert.match(await vm.run('cat /etc/berth/berth.env'), /^CONTAINER_TEMPLATES_FILE=/m)
    },
  ],
  [
    'on a full disk applications answer, a launch is refused with the reason, and all goes on once there is room',
    async ({ vm, berth }) => {
      const before = await berth.launch(type)
      const fill = 'fallocate --length $(df --block-size=1 --output=avail / | tail -n 1) /root/filling'
      await vm.run(`${fill}; cat /dev/zero >>/root/filling 2>/dev/null || true; sync`, { limitMs: slow })
      assert.equal((await vm.run('df --output=avail / | tail -n 1')).trim(), '0')
      try {
        await vm.until('the operator reads it', 'journalctl --unit berth --no-pager | grep --quiet "Little disk: "')
        assert.equal(await berth.answers(type), before)
        const { status, body } = await berth.call('/api/container/launch/small', 'POST')
        assert.equal(status, 500)
        assert.match(body, /The server has no room for another container now/)
        assert.match(await vm.run('berth doctor 2>&1 || true', { limitMs: slow }), /critical .*are free on the disk of/)
      } finally {
        await vm.run('rm /root/filling')
      }
      await vm.until('it is noticed', 'journalctl --unit berth --no-pager | grep --quiet "Little disk: resolved"')
      await berth.launch('small')
      assert.equal(await berth.answers(type), before)
      assert.match(await vm.run('berth audit verify', { limitMs: slow }), /./)
    },
  ],
  [
    'an engine that is restarted, and upgraded, under load brings its containers back; with live-restore their programs go on',
    async ({ vm, berth }, t) => {
      const before = await berth.launch(type)
      const during = async (/** @type {string} */ command) => {
        const observed = await berth.observe(type)
        await vm.run(command, { limitMs: slow })
        assert.equal(await berth.answers(type), before)
        const statuses = await observed()
        const counts = Object.entries(Object.groupBy(statuses, String)).map(
          ([status, all]) => `${all?.length} x ${status}`,
        )
        t.diagnostic(`${command}: ${counts.join(', ')}`)
        return new Set(statuses)
      }
      const hasOnly = async (/** @type {string} */ command, /** @type {RegExp} */ expected) =>
        assert.deepEqual(
          [...(await during(command))].filter((each) => !expected.test(each)),
          [],
        )
      const restart = 'systemctl restart docker'
      // The package of this very version does to the service what a newer one does.
      for (const command of [restart, 'dpkg --install /root/engine.deb']) await hasOnly(command, /^(200|502|503|504)$/)

      await vm.run(`echo '{ "live-restore": true }' >/etc/docker/daemon.json && systemctl reload docker`)
      await vm.until('it is on', "docker info --format '{{.LiveRestoreEnabled}}' | grep --quiet true")
      const pid = async () => vm.run(`docker inspect --format '{{.State.Pid}}' ${await berth.id(type)}`)
      const lasting = await pid()
      // An engine that is silent for three seconds, as one that is emulated is at its start, may have given an address away.
      await hasOnly(restart, /^(200|503)$/)
      assert.equal(await pid(), lasting)
      await vm.run('rm /etc/docker/daemon.json && systemctl restart docker', { limitMs: slow })
      assert.equal(await berth.answers(type), before)
    },
  ],
  [
    'a clock that is three hours behind at boot, and is set right then, costs a sign-in each time and stops no container',
    async ({ vm, berth }) => {
      const before = await berth.launch(type)
      const unit = '/etc/systemd/system/wrong-clock.service'
      await vm.run(`timedatectl set-ntp false && cat >${unit} && systemctl enable wrong-clock`, { input: wrongClock })
      try {
        await vm.reboot()
        assert.match(await vm.run('systemctl is-active wrong-clock'), /^active$/m)
        await berth.ready()
        // Tokens from before may have expired, as far as this clock tells.
        assert.equal(await berth.status('/api/user/me'), 401)
        await berth.enter('login')
        assert.equal(await berth.answers(type), before)
      } finally {
        await vm.run("systemctl disable wrong-clock && date --set '3 hours'")
      }
      await vm.until(
        'the jump is noticed',
        'journalctl --unit berth --no-pager | grep --quiet "clock was moved forward"',
      )
      await berth.enter('login')
      assert.equal(await berth.answers(type), before)
      await berth.launch('sleepy')
    },
  ],
  [
    'home_size and layer_size are enforced by project quotas of XFS, home_size by those of ext4, and there a layer is stopped at its limit',
    async ({ vm, berth }) => {
      await vm.run('docker save --output /root/image.tar berth-demo-dev:latest', { limitMs: slow })
      try {
        for (const [make, options, isBound] of /** @type {const} */ ([
          ['mkfs.xfs -q -f', 'pquota', true],
          ['mkfs.ext4 -q -F -O project,quota -E quotatype=prjquota', 'prjquota', false],
        ])) {
          await vm.run('systemctl stop berth docker.socket docker; umount --quiet /srv || true', { limitMs: slow })
          await vm.run(`${make} /dev/vdb && mount -o ${options} /dev/vdb /srv`, { limitMs: slow })
          await vm.run(`echo '{ "data-root": "/srv" }' >/etc/docker/daemon.json && systemctl start docker`, {
            limitMs: slow,
          })
          await vm.run('docker load --quiet --input /root/image.tar && systemctl start berth', { limitMs: slow })
          await berth.ready()
          await berth.launch('small')
          fits(await berth.inContainer('small', fill('/home/berth')))
          await berth.launch('layered')
          const size = `docker inspect --format '{{.HostConfig.StorageOpt}}' ${await berth.id('layered')}`
          if (isBound) {
            assert.match(await vm.run(size), /size:33554432/)
            fits(await berth.inContainer('layered', fill('/tmp')))
            await berth.answers('layered')
          } else {
            assert.match(await vm.run(size), /^map\[\]$/m)
            await berth.inContainer('layered', fill('/tmp'))
            const isRunning = `docker inspect --format '{{.State.Running}}' ${await berth.id('layered')}`
            // Layers are measured every ten minutes.
            await vm.until('it is stopped at its limit', `${isRunning} | grep --quiet false`, slow)
            assert.match((await berth.call('/api/user/containers')).body, /"layer_problem":"/)
          }
        }
      } finally {
        await vm.run('systemctl stop berth docker.socket docker; umount /srv; rm /etc/docker/daemon.json', {
          limitMs: slow,
        })
        await vm.run('systemctl start docker berth', { limitMs: slow })
        await berth.ready()
      }
    },
  ],
]

/** Writes twice as much as fits, and says how much of it is there, in MB. @param {string} folder */
const fill = (folder) => `dd if=/dev/zero of=${folder}/filling bs=1M count=64 2>&1; du -m ${folder}/filling | cut -f 1`

/** @param {string} said by `fill` */
function fits(said) {
  assert.match(said, /No space left on device|Disk quota exceeded/)
  assert.ok(Number(said.trim().split('\n').at(-1)) <= 32, said)
}

/** As a machine has it whose hardware clock is wrong: from the boot on, until a time service sets it. */
const wrongClock = `[Unit]
DefaultDependencies=no
After=local-fs.target
Before=sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/date --set '-3 hours'
[Install]
WantedBy=sysinit.target
`
