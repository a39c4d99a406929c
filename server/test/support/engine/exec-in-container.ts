import assert from 'node:assert/strict'
import { until } from '../api-calls.ts'
import { askEngine } from './engine.ts'

interface Exec {
  readonly Running: boolean
  readonly ExitCode: number | null
}

/** Runs a script in a container, past Berth; in the folder that the image begins in. @throws {Error} unless it ends well */
export async function execInContainer(id: string, script: string): Promise<void> {
  const body = { Cmd: ['/bin/sh', '-c', script] }
  const { Id } = await askEngine<{ Id: string }>('POST', `/containers/${id}/exec`, { body })
  await askEngine('POST', `/exec/${Id}/start`, { body: { Detach: true } })
  await until(async () => {
    const { Running, ExitCode } = await askEngine<Exec>('GET', `/exec/${Id}/json`)
    assert.ok(Running || !ExitCode, `${script}: exit code ${ExitCode}`)
    return !Running && ExitCode === 0
  })
}
