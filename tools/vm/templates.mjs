/**
 * Types of containers that are cheap to emulate: BusyBox of the demo image serves a page, or takes all of its memory.
 */
const page = 'mkdir -p /tmp/www && echo hello >/tmp/www/index.html && '
const web = ['sh', '-c', `${page}exec busybox httpd -f -p 8080 -h /tmp/www`]
// Its first process takes memory without end as soon as a file says so.
const hungry = [
  'sh',
  '-c',
  `${page}busybox httpd -p 8080 -h /tmp/www; until [ -e /tmp/eat ]; do sleep 1; done; exec tail /dev/zero`,
]

const base = { image: 'berth-demo-dev:latest', port: 8080, memory: '48m', pids: 40, cpus: 0.5 }

/** Text of a templates file: a type that serves a page, one that is paused, one that takes all, and the demo. */
export const templates = JSON.stringify({
  web: { ...base, command: web },
  sleepy: { ...base, command: web, idle_pause: 5 },
  hungry: { ...base, command: hungry },
  dev: { image: 'berth-demo-dev:latest', port: 8080, memory: '256m' },
})
