import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import type { Lifetime } from './berth.ts'
import { freePort } from './free-port.ts'
import { startMailServer } from './mail/mail-server.ts'
import { lives, runProgram, waitFor, type Program } from './program.ts'
import type { Postgres } from './store/postgres.ts'

/** One node: a whole Berth, of two processes. */
export interface Node extends Program {
  readonly address: string
  /** JSON of a request to it. @throws when it is not answered with 200 */
  ask<T>(target: string, token?: string, init?: RequestInit): Promise<T>
  /** Ends both processes at once. */
  killAll(): Promise<void>
  freeze(): void
  thaw(): void
}

interface NodeStatus {
  address: string
  leads_since: string | null
  is_current: boolean
  is_alive: boolean
}

/** Nodes of one installation, with its mail. */
export interface Nodes {
  readonly databaseUrl: string
  /** Starts a node, and resolves when it answers requests. */
  start(): Promise<Node>
  /** Signs up at one node by the link of the mail, which another one answers. @returns the token */
  signUp(at: Node, email: string, verifyAt?: Node): Promise<string>
}

const template = {
  display_name: 'Development',
  description: 'Where work is done',
  image: 'berth-demo-dev:latest',
  command: [
    '/usr/bin/node',
    '-e',
    `require('node:http').createServer((_, answer) => answer.end('hello')).listen(8080)`,
  ],
  port: 8080,
  memory: '128m',
}
const json = { 'content-type': 'application/json' }

/** On a database of their own. @param fields of the templates, by their types @param settings beside, and over, those of these tests */
export async function severalNodes(
  t: Lifetime,
  postgres: Postgres,
  fields: Partial<Record<'dev' | 'prod', object>> = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<Nodes> {
  const databaseUrl = await newDatabase(postgres)
  const mail = await startMailServer()
  t.after(async () => void (await mail.close()))
  const env = {
    DATABASE_URL: databaseUrl,
    NODE_SECRET: 'a secret of these nodes, and of no others',
    BASE_DOMAIN: 'berth.localhost',
    SMTP_URL: mail.url,
    CONTAINER_TEMPLATES: JSON.stringify({
      dev: { ...template, ...fields.dev },
      prod: { ...template, display_name: 'Production', ...fields.prod },
    }),
    ...settings,
  }
  const start = async () => {
    const address = `127.0.0.1:${await freePort()}`
    const program = runProgram(t, { ...env, NODE_ADDRESS: address })
    await program.said(/Berth is ready/)
    return nodeOf(program, address)
  }
  const signUp = async (at: Node, email: string, verifyAt = at) => {
    await at.ask('/api/auth/signup', undefined, { method: 'POST', headers: json, body: JSON.stringify({ email }) })
    await waitFor('the mail', () => mail.received.some(({ envelopeTo }) => envelopeTo.includes(email)))
    const target = `/api/auth/verify-signup?token=${mail.tokenFor(email)}`
    const { access_token: token } = await verifyAt.ask<{ access_token: string }>(target)
    return token
  }
  return { databaseUrl, start, signUp }
}

async function newDatabase({ url }: Postgres): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const name = `nodes_${randomBytes(4).toString('hex')}`
  await client.query(`create database ${name}`)
  await client.end()
  return Object.assign(new URL(url), { pathname: name }).href
}

function nodeOf(program: Program, address: string): Node {
  const ask = async <T>(target: string, token?: string, init: RequestInit = {}) => {
    const headers = { ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const answer = await program.fetch(target, undefined, { ...init, headers })
    if (answer.status !== 200) throw new Error(`${target} was answered with ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const each = (signal: NodeJS.Signals) => {
    const pids = [program.process.pid, program.api()]
    for (const pid of pids) if (pid !== undefined) process.kill(pid, signal)
    return pids
  }
  return {
    ...program,
    address,
    ask,
    killAll: async () => {
      const pids = each('SIGKILL')
      await waitFor('the end of the node', () => pids.every((pid) => pid === undefined || !lives(pid)))
    },
    freeze: () => void each('SIGSTOP'),
    thaw: () => void each('SIGCONT'),
  }
}

/** As an administrator sees them, from any node. */
export async function statusOf(node: Node, token: string): Promise<NodeStatus[]> {
  const { nodes } = await node.ask<{ nodes: NodeStatus[] }>('/api/admin/system', token)
  return nodes
}
