import assert from 'node:assert/strict'

/** @import { Fact } from './installation.mjs' */

/**
 * What holds a container, and what becomes of it when it is not used: each a sentence and what shows it.
 * @type {readonly Fact[]}
 */
export const limits = [
  [
    'memory, swap, processes and cores of a container have the limits of its template',
    async ({ berth }) => {
      await berth.launch('web')
      assert.equal(await berth.control('web', 'memory.max'), String(48 * 1024 ** 2))
      assert.equal(await berth.control('web', 'memory.swap.max'), '0')
      assert.equal(await berth.control('web', 'cpu.max'), '50000 100000')
      const many = 'for i in $(seq 100); do sleep 5 & done; wait'
      await assert.rejects(berth.inContainer('web', many), /can't fork: Resource temporarily unavailable/)
      assert.match(await berth.control('web', 'pids.events'), /^max [1-9]/m)
      await berth.inContainer('web', 'timeout 5 sh -c "while :; do :; done" || true')
      assert.match(await berth.control('web', 'cpu.stat'), /^nr_throttled [1-9]/m)
      assert.equal(await berth.status('/ann-web/'), 200)
    },
  ],
  [
    'a program that takes more memory than its limit is ended alone, and its owner reads why',
    async ({ vm, berth }) => {
      await berth.launch('web')
      await berth.launch('hungry')
      await eats({ vm, berth }, 'hungry', '{{.State.OOMKilled}}')
      const { status, body } = await berth.call('/ann-hungry/')
      assert.equal(status, 503)
      assert.match(body, /hungry ran out of memory/)
      assert.equal(await berth.status('/ann-web/'), 200)
    },
  ],
  [
    'a program that takes the last memory of the machine, below its limit, is ended, and starts again when it is asked for; Berth, the engine and others go on',
    async ({ vm, berth }) => {
      const others = () => vm.run('systemctl show --property MainPID berth docker containerd')
      const before = { page: await berth.launch('kept1'), others: await others() }
      await berth.launch('greedy')
      await vm.run('fallocate --length 1800M /dev/shm/filling')
      try {
        await eats({ vm, berth }, 'greedy', '{{not .State.Running}}')
        assert.match(await vm.run('journalctl --dmesg --no-pager'), /global_oom.*task=(dd|busybox)/)
      } finally {
        await vm.run('rm /dev/shm/filling')
      }
      assert.deepEqual({ page: await berth.answers('kept1'), others: await others() }, before)
      assert.equal(await vm.run('systemctl --failed --no-legend'), '')
      // The engine says no more than that it was killed, as at its own end: the owner's next request starts it.
      await berth.answers('greedy')
    },
  ],
  [
    'an idle container is paused by the freezer, and the next request wakes it',
    async ({ vm, berth }) => {
      await berth.launch('sleepy')
      const id = await berth.id('sleepy')
      await vm.until('it is paused', `docker inspect --format '{{.State.Status}}' ${id} | grep --quiet paused`)
      assert.match(await berth.control('sleepy', 'cgroup.events'), /^frozen 1$/m)
      await berth.answers('sleepy')
    },
  ],
]

/**
 * Tells the container of a type to take memory, and waits until it has ended for that.
 * @param {Pick<import('./installation.mjs').Machine, 'vm' | 'berth'>} machine
 * @param {string} type
 * @param {string} isEnded what the engine is asked then
 */
async function eats({ vm, berth }, type, isEnded) {
  const id = await berth.id(type)
  // A machine without memory may not get to the answer of the command before the program has ended.
  await berth.inContainer(type, 'touch /tmp/eat').catch(() => undefined)
  await vm.until('it ends', `docker inspect --format '${isEnded}' ${id} | grep --quiet true`)
}
