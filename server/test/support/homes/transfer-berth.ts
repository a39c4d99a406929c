import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import path from 'node:path'
import { packTar } from 'modern-tar'
import { assertOk } from '../api-calls.ts'
import { startBerth, testTemplates, type Lifetime, type Person } from '../berth.ts'
import { execInContainer } from '../engine/exec-in-container.ts'

/** An archive in two parts, of which the first is enough to be on the disk before the second one comes. */
export async function archiveInParts(name: string): Promise<{ parts: [Buffer, Buffer]; length: number }> {
  const content = randomBytes(2_000_000)
  const tar = Buffer.from(await packTar([{ header: { name, size: content.length, type: 'file' }, body: content }]))
  return { parts: [tar.subarray(0, tar.length / 2), tar.subarray(tar.length / 2)], length: tar.length }
}

/** What an upload was answered. */
export interface Sent {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface UploadOptions {
  /** Without it the body is chunked. */
  readonly length?: number
  readonly who?: Person
  readonly type?: string
}

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** An installation with snapshots, and Ann, into whose home archives are sent, on a real engine. */
export async function transferBerth(t: Lifetime, env: Record<string, string> = {}) {
  const berth = await startBerth(t, {
    env: { SNAPSHOTS: 'on', SNAPSHOT_MAX_SIZE: '24m', CONTAINER_TEMPLATES: await testTemplates(), ...env },
  })
  await berth.administrator()
  const ann = await berth.signUp('ann@x.org')
  const stop = async () => assertOk(await ann.call('POST', '/api/container/stop/dev'))
  const launch = async () => {
    const launched = await ann.call('POST', '/api/container/launch/dev')
    assertOk(launched)
    return launched.body.container_id as string
  }
  const snapshots = path.join(berth.dataDir, 'snapshots')
  return {
    berth,
    ann,
    stop,
    launch,
    /** Launches, runs it in the container, and stops it. */
    inHome: async (script: string) => {
      const said = (await execInContainer(await launch(), script)).trim()
      await stop()
      return said
    },
    upload: (parts: Bytes, { length, who = ann, type = 'dev' }: UploadOptions = {}) =>
      sendBody(berth.url, `/api/container/upload/${type}`, parts, who.token, length),
    /** Archives that were received and are not yet unpacked, whole or in part. */
    received: () => namesIn(path.join(snapshots, 'uploads')).filter((name) => /\.tar|\.unfinished/.test(name)),
  }
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [])

/** As a client that streams. @param parts what they throw ends the connection in the middle */
async function sendBody(
  origin: string,
  target: string,
  parts: Bytes,
  token: string,
  length: number | undefined,
): Promise<Sent> {
  const { port } = new URL(origin)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/x-tar',
    ...(length === undefined ? {} : { 'content-length': length }),
  }
  let isAnswered = false
  const asked = request({ port, method: 'POST', path: target, headers, agent: false })
  const answered = new Promise<Sent>((resolve, reject) => {
    // The connection may end once there is an answer, although not all was sent.
    asked.on('error', (error) => void (isAnswered || reject(error)))
    asked.on('response', (answer) => {
      isAnswered = true
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('error', reject)
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }))
    })
  })
  const send = async () => {
    for await (const part of parts) {
      if (isAnswered) return asked.destroy()
      if (!asked.write(part)) await Promise.race([once(asked, 'drain'), answered.catch(() => undefined)])
    }
    asked.end()
  }
  send().catch(() => asked.destroy())
  return answered
}
