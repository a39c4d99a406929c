import path from 'node:path'
import { scratch } from '../programs.ts'

/** An nginx configuration around an `http` block: one worker, no logs, files in the scratch folder. */
export function nginxFrame(name: string, http: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${path.join(scratch, `${name}.pid`)};
events { worker_connections 16384; }
http {
  access_log off;
  ${folders.map((folder) => `${folder}_temp_path ${path.join(scratch, `${name}.${folder}`)};`).join('\n  ')}
  client_max_body_size 0;
  keepalive_requests 1000000000;
  proxy_http_version 1.1;
  ${http}
}
`
}
