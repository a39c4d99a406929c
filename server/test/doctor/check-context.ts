import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { contextWithoutService } from '@berth/cli/init/check-answers.ts'
import { readConfig } from '#/config/config.ts'
import type { CheckContext } from '@berth/cli/doctor/check.ts'
import { inspectionOf } from '#/engines/docker/engine-inspection.ts'
import type { EngineReport } from '#/engines/engine-inspection.ts'

/** A folder that goes with the test. */
export function folderFor(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-doctor-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What checks look at, with these settings and the machine's engine, while no service runs. */
export function contextFor(
  t: TestContext,
  settings: Record<string, string> = {},
  others: Partial<CheckContext> = {},
): CheckContext {
  const { config, problems } = readConfig({ DATA_DIR: folderFor(t), ...settings }, () => '')
  if (!config) throw new Error(problems.join('\n'))
  const inspections = { engine: inspectionOf(config.dockerHost), cluster: null }
  return { ...contextWithoutService(config, inspections), ...others }
}

/** The same, with something else in what the engine reports. */
export function withReport(context: CheckContext, change: Partial<EngineReport>): CheckContext {
  const report = async () => ({ ...(await context.engine.report()), ...change })
  return { ...context, engine: { ...context.engine, report } }
}

/** Levels and sentences, for comparisons. */
export const inWords = (findings: readonly { level: string; what: string }[]) =>
  findings.map(({ level, what }) => `${level}: ${what}`).join('\n')
