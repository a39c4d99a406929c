import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { listening, loadCore, start, type Started } from '../process.ts'
import { nginxFrame } from '../peers/nginx-frame.ts'
import { programs, scratch } from '../programs.ts'
import { busy } from '../routes.ts'

/**
 * The HTTP apps: an nginx on the core of the load, because a Node server was the bottleneck. `/` returns a few bytes,
 * `/mib` a file of 1 MiB, `/post` a few bytes after it has read the whole body.
 */
export async function startWeb(port: number): Promise<Started> {
  const file = path.join(scratch, 'web.conf')
  await writeFile(path.join(scratch, 'mib'), Buffer.alloc(1024 * 1024, 'x'))
  // A killed run leaves its socket, and nginx does not listen where one exists.
  await rm(itself, { force: true })
  await writeFile(file, nginxFrame('web', configuration(port)))
  const command = [programs.nginx, '-c', file, '-p', scratch, '-e', path.join(scratch, 'web.err')]
  const started = start('web', loadCore, ['env', ...keepMemory, ...command])
  for (const { host } of busy) await listening('web', started, port, host)
  return started
}

const itself = path.join(scratch, 'web.sock')

/** Without these settings each body of 1 MiB would cost the backend new pages of memory, more than reading it does. */
const keepMemory = ['MALLOC_MMAP_THRESHOLD_=33554432', 'MALLOC_TRIM_THRESHOLD_=268435456']

/** nginx responds before it has read a body unless it forwards the request: here to itself, without the body. */
function configuration(port: number): string {
  return `upstream itself { server unix:${itself}; keepalive 64; keepalive_requests 1000000000; }
  default_type text/plain;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=10;
  client_body_buffer_size 2m;
  server {
    ${busy.map(({ host }) => `listen ${host}:${port} backlog=4096;`).join('\n    ')}
    listen unix:${itself};
    location / { return 200 "hello, world\\n"; }
    location = /mib { root ${scratch}; }
    location = /post {
      proxy_set_header Connection "";
      proxy_set_header Content-Length "";
      proxy_pass_request_body off;
      proxy_method GET;
      proxy_pass http://itself/;
    }
  }`
}
