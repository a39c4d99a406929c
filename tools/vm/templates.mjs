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
const hungry = [
  'sh',
  '-c',
  `${page}busybox httpd -p 8080 -h /tmp/www; until [ -e /tmp/eat ]; do sleep 1; done; exec tail /dev/zero`,
]

const base = { image: 'berth-demo-dev:latest', port: 8080, memory: '48m', pids: 40, cpus: 0.5 }

/** Types of which containers run until they are stopped; each answers with a text of its own, which is in its home. */
export const longLived = Array.from({ length: 20 }, (_, at) => `kept${at + 1}`)

/** Text of a templates file: a type that serves a page, one that is paused, one that takes all, the demo, and twenty that stay. */
export const templates = JSON.stringify({
  web: { ...base, command: web },
  ...Object.fromEntries(longLived.map((type) => [type, { ...base, memory: '24m', cpus: 0.2, command: kept }])),
  sleepy: { ...base, command: web, idle_pause: 5 },
  hungry: { ...base, command: hungry },
  small: { ...base, command: web, home_size: '32m' },
  dev: { image: 'berth-demo-dev:latest', port: 8080, memory: '256m' },
})
