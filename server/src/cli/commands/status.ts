import type { SystemReport } from '@berth/api/admin.ts'
import type { Command } from 'commander'
import { findService } from '#/cli/find-service.ts'
import { teach, type Run } from '#/cli/teach.ts'
import { instant } from '#/cli/words.ts'
import { withApi, type Here } from '#/cli/with-api.ts'

/** `berth status`. */
export function addStatus(program: Command, run: Run): void {
  const status = program
    .command('status')
    .description('say whether Berth runs, since when, and how it is')
    .action(() => run(showStatus))
  teach(status, {
    effect: 'Only reads. The exit code is 0 also when Berth does not run: --json says {"running": false} then.',
    examples: [
      ['status', 'a glance'],
      ['status --json | jq -e .running', 'for a script'],
    ],
  })
}

async function showStatus(here: Here): Promise<void> {
  const { dataDir, terminal, signal } = here
  const service = await findService({ dataDir, note: (line) => terminal.note(line), signal })
  if (!service) {
    terminal.json({ running: false, data_dir: dataDir })
    return terminal.print(`Berth does not run (data in ${dataDir}). Start it with "npm start".`)
  }
  const report = await withApi(here, (api) => api.systemReport())
  const since = service.since.toISOString()
  terminal.json({ running: true, since, pid: service.pid, data_dir: dataDir, ...report })
  terminal.print(`Berth runs since ${instant(since)} UTC (process ${service.pid}, data in ${dataDir}).`)
  for (const line of linesOf(report)) terminal.print(line)
}

function linesOf({ reconciler, launches, containers, warnings }: SystemReport): string[] {
  const most = containers.most === null ? '' : ` of ${containers.most}`
  return [
    `  engine      ${reconciler.is_engine_answering ? 'answers' : 'does not answer'}`,
    `  containers  ${containers.running}${most} running`,
    `  launches    ${launches.under_way} under way, ${launches.waiting} waiting`,
    `  reconciled  ${instant(reconciler.last_success)}`,
    ...[...reconciler.failures, ...warnings].map((each) => `  ! ${each}`),
  ]
}
