import type { Migration } from 'kysely/migration'
import { initial } from './001-initial.ts'
import { stoppedAt } from './002-stopped-at.ts'
import { whatShouldRun } from './003-what-should-run.ts'
import { removals } from './004-removals.ts'
import { auditChain } from './005-audit-chain.ts'
import { sessions } from './006-sessions.ts'
import { links } from './007-links.ts'
import { expiryIndexes } from './008-expiry-indexes.ts'
import { listOrders } from './009-list-orders.ts'
import { foreignKeys } from './010-foreign-keys.ts'
import { retired } from './011-retired.ts'
import { clockMoves } from './012-clock-moves.ts'
import { lastingSessions } from './013-lasting-sessions.ts'
import { apiTokens } from './014-api-tokens.ts'
import { identities } from './015-identities.ts'
import { removedContainerId } from './016-removed-container-id.ts'
import { parameters } from './017-parameters.ts'
import { groups } from './018-groups.ts'
import { containerShares } from './019-container-shares.ts'
import { nodes } from './020-nodes.ts'
import { auditPersonalFacts } from './021-audit-personal-facts.ts'
import { groupTimetables } from './022-group-timetables.ts'
import { usage } from './023-usage.ts'
import { measuredUsage } from './024-measured-usage.ts'
import { looks } from './025-looks.ts'
import { termEnds } from './026-term-ends.ts'
import { nodeProtocol } from './027-node-protocol.ts'
import { usageOfSubjects } from './028-usage-of-subjects.ts'
import { groupBlocks } from './029-group-blocks.ts'
import { requestedStops } from './030-requested-stops.ts'
import { homes } from './031-homes.ts'
import { sharePorts } from './032-share-ports.ts'
import { sshKeys } from './033-ssh-keys.ts'
import { environments } from './034-environments.ts'
import { environmentTrials } from './035-environment-trials.ts'
import { extraDisk } from './036-extra-disk.ts'
import { gpus } from './037-gpus.ts'
import { gpuUsage } from './042-gpu-usage.ts'
import { fullLayers } from './043-full-layers.ts'
import { memberNames } from './044-member-names.ts'
import { stopReasons } from './045-stop-reasons.ts'
import type { Up } from './columns.ts'

/**
 * Every migration in order of its name, which existing stores have recorded. What a released one does to a store is
 * never changed. Each must be repeatable after an interruption: Kysely does not wrap SQLite's in one transaction.
 */
const all: Readonly<Record<string, Up>> = {
  '001-initial': initial,
  '002-stopped-at': stoppedAt,
  '003-what-should-run': whatShouldRun,
  '004-removals': removals,
  '005-audit-chain': auditChain,
  '006-sessions': sessions,
  '007-links': links,
  '008-expiry-indexes': expiryIndexes,
  '009-list-orders': listOrders,
  '010-foreign-keys': foreignKeys,
  '011-retired': retired,
  '012-clock-moves': clockMoves,
  '013-lasting-sessions': lastingSessions,
  '014-api-tokens': apiTokens,
  '015-identities': identities,
  '016-removed-container-id': removedContainerId,
  '017-parameters': parameters,
  '018-groups': groups,
  '019-container-shares': containerShares,
  '020-nodes': nodes,
  '021-audit-personal-facts': auditPersonalFacts,
  '022-group-timetables': groupTimetables,
  '023-usage': usage,
  '024-measured-usage': measuredUsage,
  '025-looks': looks,
  '026-term-ends': termEnds,
  '027-node-protocol': nodeProtocol,
  '028-usage-of-subjects': usageOfSubjects,
  '029-group-blocks': groupBlocks,
  '030-requested-stops': requestedStops,
  '031-homes': homes,
  '032-share-ports': sharePorts,
  '033-ssh-keys': sshKeys,
  '034-environments': environments,
  '035-environment-trials': environmentTrials,
  '036-extra-disk': extraDisk,
  '037-gpus': gpus,
  '042-gpu-usage': gpuUsage,
  '043-full-layers': fullLayers,
  '044-member-names': memberNames,
  '045-stop-reasons': stopReasons,
}

/** The same for one of the databases. */
export const migrations = (isPostgres: boolean): Record<string, Migration> =>
  Object.fromEntries(Object.entries(all).map(([name, up]) => [name, { up: (db) => up(db, isPostgres) }]))
