import assert from 'node:assert/strict'
import type { RunningApp } from './run-app.ts'

/** Whether and when the container of a type is suspended. */
export interface IdleWatch {
  isRunning(): Promise<boolean>
  /** @throws {AssertionError} when it is suspended within this time */
  runsFor(seconds: number): Promise<void>
  /** @throws {AssertionError} when it is not suspended within this time */
  isSuspendedWithin(seconds: number): Promise<void>
}

export function watchIdle({ ann, page }: RunningApp, type: string): IdleWatch {
  const isRunning = async () => {
    const { containers } = (await ann.call('GET', '/api/user/containers')).body
    return containers.find((each: { type: string }) => each.type === type).status === 'running'
  }
  return {
    isRunning,
    async runsFor(seconds) {
      for (const end = Date.now() + seconds * 1_000; Date.now() < end; await page.waitForTimeout(1_000))
        assert.ok(await isRunning(), `it was suspended ${((end - Date.now()) / 1_000).toFixed(0)} s too early`)
    },
    async isSuspendedWithin(seconds) {
      for (const end = Date.now() + seconds * 1_000; await isRunning(); await page.waitForTimeout(1_000))
        assert.ok(Date.now() < end, 'it is not suspended')
    },
  }
}
