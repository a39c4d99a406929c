import assert from 'node:assert/strict'
import { templates, templatesWithFolders } from './templates.mjs'
import { untilTrue } from './vm.mjs'

/** @import { Fact, Installation, Machine } from './installation.mjs' */

/** The server's address and export, and where this machine mounts it. */
const exported = '198.51.100.2:/var/exported/homes'
const mounted = '/nfs/homes'
const served = '/var/exported/homes'

/** In ms: how long the server is away, how long an answer may take meanwhile, and until the kernel has come back to it. */
const limits = { away: 60_000, answer: 120_000, back: 600_000 }

const silent = /file server .* does not answer/
const missing = /home on a file server, is missing or cannot be used/
const lost = /lost its connection to your home/

/**
 * Homes on a server of NFS that squashes root, the one of the kernel, mounted by the kernel with what is its default: its requests
 * wait for the server without end. Each a sentence and what shows it.
 * @type {readonly Fact[]}
 */
export const fileServer = [
  [
    'a home on a file server that squashes root is its own program’s alone, and one that has to be made is refused with the reason',
    ({ vm, berth }) =>
      withFileServer({ vm, berth }, async () => {
        await berth.launch('remote')
        await berth.inContainer('remote', 'echo first >/home/berth/file')
        assert.match(
          await vm.run(`stat --format '%u %g' ${served}/people/ann/file && cat ${served}/people/ann/file`),
          /^1000 1000\nfirst$/m,
        )
        assert.match(await berth.inContainer('remote', 'mount'), / on \/home\/berth type nfs4 /)
        await assert.rejects(vm.run(`cat ${mounted}/people/ann/file`), /Permission denied/)

        const { status, body } = await berth.call('/api/container/launch/made', 'POST')
        assert.equal(status, 500)
        assert.match(body, missing)
        assert.equal(await berth.cardOf('made'), JSON.parse(body).error)
        assert.match(await log(vm), /home_source \/nfs\/homes\/new\/ann cannot be made/)
        assert.equal(await vm.run(`ls ${served}/new`), '')
        assert.deepEqual(
          (await berth.findings()).filter(({ what }) => /does not answer|stale/.test(what)),
          [],
        )
      }),
  ],
  [
    'while the file server is away for a minute Berth answers, starts anew, launches and stops others, and says why; then all goes on',
    ({ vm, berth }, t) =>
      withFileServer({ vm, berth }, async () => {
        const eva = await berth.as('eva')
        await berth.launch('remote')
        await eva.launch('remote')
        await berth.inContainer('remote', 'echo before >/home/berth/file')
        await stop(eva, 'remote')
        const timed = timer(t)
        const end = performance.now() + limits.away
        await vm.run('ip -n fileserver link set eth0 down')
        try {
          for (let round = 0; round === 0 || performance.now() < end; round++) {
            const refused = await timed('a refusal', eva.call('/api/container/launch/remote', 'POST'))
            assert.equal(refused.status, 500)
            assert.match(refused.body, silent)
            assert.equal(await eva.cardOf('remote'), JSON.parse(refused.body).error)
            await others(timed, berth, eva)
          }
          await untilTrue('the card of what runs says so', limits.back, problemIs(berth, 'remote', silent))
          // A home there is not asked again for this.
          await vm.run('systemctl restart berth', { limitMs: limits.back })
          await berth.ready()
          await others(timed, berth, eva)
          assert.match(await log(vm), new RegExp(`the file system at ${mounted} does not answer`))
          assert.ok((await berth.findings()).some(({ what }) => what.includes(mounted)))
          assert.equal((await timed('the stop of what has its home there', stop(berth, 'remote'))).status, 200)
        } finally {
          await vm.run('ip -n fileserver link set eth0 up')
        }
        const begun = performance.now()
        await vm.until('the kernel has come back to it', `timeout 20 stat ${mounted}/people/ann`, limits.back)
        t.diagnostic(`the kernel came back after ${Math.round((performance.now() - begun) / 1000)} s`)
        await berth.launch('remote')
        assert.match(await berth.inContainer('remote', 'cat /home/berth/file'), /^before$/m)
        await eva.launch('remote')
      }),
  ],
  [
    'when the file server has replaced what it exports, cards say that handles are stale, the rest works, and all goes on once it is mounted again',
    ({ vm, berth }, t) =>
      withFileServer({ vm, berth }, async () => {
        const eva = await berth.as('eva')
        const timed = timer(t)
        await berth.launch('remote')
        await replace(vm)
        await vm.until('the handle is stale', `LC_ALL=C ls ${mounted} 2>&1 | grep --quiet Stale`, limits.back)
        await assert.rejects(berth.inContainer('remote', 'ls /home/berth'), /stale/i)
        await untilTrue('the card says so', limits.back, problemIs(berth, 'remote', lost))
        for (const person of [eva, berth]) {
          if (person === berth) assert.equal((await timed('a stop', stop(berth, 'remote'))).status, 200)
          const refused = await timed('a refusal', person.call('/api/container/launch/remote', 'POST'))
          assert.equal(refused.status, 500)
          assert.match(refused.body, missing)
        }
        await others(timed, berth, eva)
        assert.match(await log(vm), /handle is stale .*mount it again/)
        await vm.run(`umount --lazy ${mounted} && timeout 120 mount -t nfs ${exported} ${mounted}`)
        await berth.launch('remote')
        await berth.inContainer('remote', 'echo third >/home/berth/file')
        assert.equal(await vm.run(`cat ${served}/people/ann/file`), 'third\n')
        await eva.launch('remote')
      }),
  ],
]

/** @param {Installation} berth @param {string} type */
const stop = (berth, type) => berth.call(`/api/container/stop/${type}`, 'POST')

/** @param {Machine['vm']} vm */
const log = (vm) => vm.run('journalctl --unit berth --no-pager')

/** Whether the list of a person's containers says it, as a condition. @param {Installation} berth @param {string} type @param {RegExp} words */
function problemIs(berth, type, words) {
  return async () => {
    const { body } = await berth.call('/api/user/containers')
    const found = JSON.parse(body).containers.find((/** @type {{ type: string }} */ each) => each.type === type)
    return words.test(String(found?.home_problem))
  }
}

/**
 * What people do elsewhere meanwhile.
 * @param {ReturnType<typeof timer>} timed
 * @param {Installation} berth
 * @param {Installation} other
 */
async function others(timed, berth, other) {
  assert.equal(await timed('the health', berth.status('/healthz')), 200)
  assert.equal(await timed('a list', berth.status('/api/user/containers')), 200)
  await timed('a launch', other.launch('web'))
  assert.equal((await timed('a stop', stop(other, 'web'))).status, 200)
}

/** Holds work to the time that an answer may take, and says at the end what each kind took at most. @param {import('node:test').TestContext} t */
function timer(t) {
  /** @type {Map<string, number>} */
  const longest = new Map()
  t.after(() => t.diagnostic([...longest].map(([what, ms]) => `${what} within ${Math.ceil(ms / 1000)} s`).join(', ')))
  /** @template T @param {string} what @param {Promise<T>} work @returns {Promise<T>} */
  return async (what, work) => {
    const begun = performance.now()
    const done = await work
    const took = performance.now() - begun
    longest.set(what, Math.max(took, longest.get(what) ?? 0))
    assert.ok(took < limits.answer, `${what} took ${Math.round(took)} ms`)
    return done
  }
}

/**
 * A server with a network of its own, its export mounted here, and types with their homes there.
 * @param {Pick<Machine, 'vm' | 'berth'>} machine
 * @param {() => Promise<void>} work
 */
async function withFileServer({ vm, berth }, work) {
  await vm.run('cat >/usr/local/sbin/fileserver', { input: server })
  await vm.run('cat >/etc/systemd/system/fileserver.service', { input: unit })
  await vm.run(`systemctl daemon-reload; mkdir --parents ${mounted}; ip netns add fileserver
    ip link add fileserver type veth peer name eth0 netns fileserver
    ip address add 198.51.100.1/30 dev fileserver && ip link set fileserver up
    ip -n fileserver address add 198.51.100.2/30 dev eth0
    ip -n fileserver link set lo up && ip -n fileserver link set eth0 up`)
  try {
    await replace(vm)
    await vm.until('it is mounted', `mountpoint --quiet ${mounted} || timeout 120 mount -t nfs ${exported} ${mounted}`)
    await vm.run('cat >/etc/berth/templates.json', {
      input: templatesWithFolders(`${mounted}/people/{slug}`, `${mounted}/new/{slug}`),
    })
    await vm.run(`echo ALLOWED_MOUNT_ROOTS=${mounted} >>/etc/berth/berth.env && systemctl restart berth`, {
      limitMs: limits.back,
    })
    await berth.ready()
    await work()
  } finally {
    await vm.run(
      `docker ps --all --quiet --filter volume=/home/berth --filter name=-remote$ | xargs --no-run-if-empty docker rm --force
      umount --lazy ${mounted}; systemctl stop fileserver; ip netns delete fileserver; ip link delete fileserver
      sed --in-place /^ALLOWED_MOUNT_ROOTS=/d /etc/berth/berth.env`,
      { limitMs: limits.back },
    )
    await vm.run('cat >/etc/berth/templates.json && systemctl restart berth', {
      input: templates,
      limitMs: limits.back,
    })
    await berth.ready()
  }
}

/** Another server comes in the place of the one that there may be: handles of before lead to nothing: a folder made
 * before the other is removed has not the number of that, by which the server knows an export. @param {Machine['vm']} vm */
async function replace(vm) {
  await vm.run(
    `systemctl stop fileserver; mkdir --parents ${served} ${served}.new && mv ${served} ${served}.old && mv ${served}.new ${served} && rm -r ${served}.old
    mkdir ${served}/people ${served}/new
    for each in ann eva; do install -d -m 0700 -o 1000 -g 1000 ${served}/people/$each; done; systemctl start fileserver`,
    { limitMs: limits.back },
  )
}

/**
 * The server of Debian's nfs-kernel-server: the kernel has one for each network namespace. NFS 4 alone, so that no rpcbind is needed;
 * its state is not that of the machine. After a start it waits 10 s, in place of 90 s, for clients of before.
 */
const server = `#!/bin/bash
set -euo pipefail
mount -t nfsd nfsd /proc/fs/nfsd
if [ "$1" = stop ]; then exec rpc.nfsd 0; fi
mount -t tmpfs tmpfs /var/lib/nfs
mkdir /var/lib/nfs/{v4recovery,sm,sm.bak}
touch /var/lib/nfs/{etab,rmtab,xtab}
exportfs -o rw,sync,no_subtree_check,root_squash 198.51.100.1:${served}
# First, because the kernel asks it, and a request without an answer is tried again after a minute.
rpc.mountd --no-nfs-version 3
rpc.nfsd --no-nfs-version 3 --grace-time 10 --lease-time 10 4
`
const unit = `[Service]
Type=oneshot
RemainAfterExit=yes
NetworkNamespacePath=/run/netns/fileserver
PrivateMounts=yes
ExecStartPre=/sbin/modprobe nfsd
ExecStart=/bin/bash /usr/local/sbin/fileserver start
ExecStop=/bin/bash /usr/local/sbin/fileserver stop
`
