import { Pool } from 'undici'
import { parseEngineAddress } from '#/engines/docker/engine-address.ts'
import { askEngine, engineAddress } from './engine.ts'
import { waitLimit } from '../extent.ts'

/** Maximum time a script may take, in ms. */
const timeout = waitLimit(60_000)

/**
 * Runs a shell script in a container, past Berth: as the container's user, in the image's working directory.
 * @returns what it printed, standard error included @throws {Error} with that when its exit code is not 0
 */
export async function execInContainer(id: string, script: string): Promise<string> {
  const { printed, code } = await runInContainer(id, ['/bin/sh', '-c', script])
  if (code !== 0) throw new Error(`${script}: exit code ${code}: ${printed}`)
  return printed
}

/** Runs a program in a container as `execInContainer` does, whatever its exit code. */
export async function runInContainer(
  id: string,
  command: readonly string[],
): Promise<{ readonly printed: string; readonly code: number | null }> {
  const { Id } = await askEngine<{ Id: string }>('POST', `/containers/${id}/exec`, {
    // With a terminal the engine sends plain text, without one frames.
    body: { Cmd: command, AttachStdout: true, AttachStderr: true, Tty: true },
  })
  const printed = (await readOutput(Id)).replaceAll('\r\n', '\n')
  const { ExitCode } = await askEngine<{ ExitCode: number | null }>('GET', `/exec/${Id}/json`)
  return { printed, code: ExitCode }
}

async function readOutput(exec: string): Promise<string> {
  const { origin, ...address } = parseEngineAddress(engineAddress)
  const engine = new Pool(origin, address)
  try {
    const answer = await engine.request({
      method: 'POST',
      path: `/exec/${exec}/start`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ Detach: false, Tty: true }),
      signal: AbortSignal.timeout(timeout),
    })
    return await answer.body.text()
  } finally {
    await engine.close()
  }
}
