/**
 * Types of containers that are cheap to emulate: BusyBox of the demo image serves a page, or takes all of its memory.
 */
const page = 'mkdir -p /tmp/www && echo hello >/tmp/www/index.html && '
const web = ['sh', '-c', `${page}exec busybox httpd -f -p 8080 -h /tmp/www`]
// Its page is in its home, and says which home it is.
const kept = [
  'sh',
  '-c',
  'cd && { [ -s index.html ] || cat /proc/sys/kernel/random/uuid >index.html; } && exec busybox httpd -f -p 8080 -h .',
]
// Its first process takes memory without end as soon as a file says so.
const eats = (/** @type {string} */ program) => [
  'sh',
  '-c',
  `${page}busybox httpd -p 8080 -h /tmp/www; until [ -e /tmp/eat ]; do sleep 1; done; exec ${program}`,
]

const base = { image: 'berth-demo-dev:latest', port: 8080, memory: '48m', pids: 40, cpus: 0.5 }

/** Types of which containers run until they are stopped; each answers with a text of its own, which is in its home. */
export const longLived = Array.from({ length: 20 }, (_, at) => `kept${at + 1}`)

/** A type that serves a page, one that is paused, two that take all memory, two with little room, the demo, and twenty that stay. */
const types = {
  web: { ...base, command: web },
  ...Object.fromEntries(longLived.map((type) => [type, { ...base, memory: '24m', cpus: 0.2, command: kept }])),
  sleepy: { ...base, command: web, idle_pause: 5 },
  hungry: { ...base, command: eats('tail /dev/zero') },
  greedy: { ...base, memory: '3g', cpus: 1, command: eats('dd if=/dev/zero of=/dev/null bs=2047M count=1') },
  small: { ...base, command: web, home_size: '32m' },
  layered: { ...base, command: web, layer_size: '32m' },
  dev: { image: 'berth-demo-dev:latest', port: 8080, memory: '256m' },
}
/** Text of a templates file. */
export const templates = JSON.stringify(types)

/**
 * The same, and two types whose program is another account than root and whose homes are folders of this machine.
 * @param {string} home of the one, which is there
 * @param {string} made of the other, which Berth makes
 */
export function templatesWithFolders(home, made) {
  const remote = { ...base, command: web, user: '1000:1000' }
  return JSON.stringify({
    ...types,
    remote: { ...remote, home_source: { path: home } },
    made: { ...remote, home_source: { path: made, create: '1000:1000' } },
  })
}
