import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lifetime } from './berth.ts'

/** A repository that is served by Git's own program for web servers. */
export interface GitServer {
  readonly url: string
  /** `host:port` */
  readonly host: string
  /** Work tree. */
  readonly folder: string
  /** Commits everything in the work tree to `main`. */
  commit(): void
}

export async function startGitServer(lifetime: Lifetime): Promise<GitServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-repository-'))
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@x.org', '-C', folder, ...words])
  git('init', '--quiet', '--initial-branch=main')
  const server = createServer((request, response) => answer(folder, request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  lifetime.after(async () => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--message=x')
  }
  return { url: `http://${host}/.git`, host, folder, commit }
}

/** By the Common Gateway Interface (RFC 3875): headers, an empty line, and the body. */
function answer(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://git')
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin.on('error', () => undefined))
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk))
  child.on('close', () => {
    const all = Buffer.concat(chunks)
    const end = all.indexOf('\r\n\r\n')
    const headers = all
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string])
    const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200'
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== 'Status')))
    response.end(all.subarray(end + 4))
  })
}
