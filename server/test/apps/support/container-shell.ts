import { Pool } from 'undici'
import { parseEngineAddress } from '#/runtime/docker-engine/client/engine-address.ts'
import { askEngine, engineAddress } from '#test/support/engine/engine.ts'

/**
 * Runs a shell's line in a container as the container's own user, at most 20 s.
 * @returns what it printed, errors too @throws {Error} with that, when its status is not 0
 */
export async function runInContainer(containerId: string, line: string): Promise<string> {
  const { Id } = await askEngine<{ Id: string }>('POST', `/containers/${containerId}/exec`, {
    // With a terminal the engine sends plain text, without one frames.
    body: { Cmd: ['sh', '-c', line], AttachStdout: true, AttachStderr: true, Tty: true },
  })
  const printed = (await readExec(Id)).replaceAll('\r\n', '\n')
  const { ExitCode } = await askEngine<{ ExitCode: number | null }>('GET', `/exec/${Id}/json`)
  if (ExitCode !== 0) throw new Error(`${line} ended with ${ExitCode}: ${printed}`)
  return printed
}

async function readExec(id: string): Promise<string> {
  const { origin, ...where } = parseEngineAddress(engineAddress)
  const engine = new Pool(origin, where)
  try {
    const answer = await engine.request({
      method: 'POST',
      path: `/exec/${id}/start`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ Detach: false, Tty: true }),
      signal: AbortSignal.timeout(20_000),
    })
    return await answer.body.text()
  } finally {
    await engine.close()
  }
}
