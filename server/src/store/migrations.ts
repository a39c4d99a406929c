import type { Migration } from 'kysely/migration'
import { initial } from './migrations/001-009/001-initial.ts'
import { stoppedAt } from './migrations/001-009/002-stopped-at.ts'
import { whatShouldRun } from './migrations/001-009/003-what-should-run.ts'
import { removals } from './migrations/001-009/004-removals.ts'
import { auditChain } from './migrations/001-009/005-audit-chain.ts'
import { sessions } from './migrations/001-009/006-sessions.ts'
import { links } from './migrations/001-009/007-links.ts'
import { expiryIndexes } from './migrations/001-009/008-expiry-indexes.ts'
import { listOrders } from './migrations/001-009/009-list-orders.ts'
import { foreignKeys } from './migrations/010-019/010-foreign-keys.ts'
import { retired } from './migrations/010-019/011-retired.ts'
import { clockMoves } from './migrations/010-019/012-clock-moves.ts'
import { lastingSessions } from './migrations/010-019/013-lasting-sessions.ts'
import { apiTokens } from './migrations/010-019/014-api-tokens.ts'
import { identities } from './migrations/010-019/015-identities.ts'
import { removedContainerId } from './migrations/010-019/016-removed-container-id.ts'
import { parameters } from './migrations/010-019/017-parameters.ts'
import { usage } from './migrations/020-029/023-usage.ts'
import { looks } from './migrations/020-029/025-looks.ts'
import { groups } from './migrations/010-019/018-groups.ts'
import { containerShares } from './migrations/010-019/019-container-shares.ts'
import { nodes } from './migrations/020-029/020-nodes.ts'
import { auditPersonalFacts } from './migrations/020-029/021-audit-personal-facts.ts'
import { nodeProtocol } from './migrations/020-029/027-node-protocol.ts'
import { usageOfSubjects } from './migrations/020-029/028-usage-of-subjects.ts'
import { groupBlocks } from './migrations/020-029/029-group-blocks.ts'
import { groupTimetables } from './migrations/020-029/022-group-timetables.ts'
import { measuredUsage } from './migrations/020-029/024-measured-usage.ts'
import { termEnds } from './migrations/020-029/026-term-ends.ts'

/**
 * Every migration in order of its name, which existing stores have recorded; the folders are ranges of ten numbers. What a
 * released one does to a store is never changed.
 * Each must be repeatable after an interruption: Kysely does not wrap SQLite's in one transaction.
 */
export function migrations(isPostgres: boolean): Record<string, Migration> {
  return {
    '001-initial': initial(isPostgres),
    '002-stopped-at': stoppedAt,
    '003-what-should-run': whatShouldRun,
    '004-removals': removals(isPostgres),
    '005-audit-chain': auditChain(isPostgres),
    '006-sessions': sessions(isPostgres),
    '007-links': links(isPostgres),
    '008-expiry-indexes': expiryIndexes,
    '009-list-orders': listOrders,
    '010-foreign-keys': foreignKeys,
    '011-retired': retired,
    '012-clock-moves': clockMoves(isPostgres),
    '013-lasting-sessions': lastingSessions,
    '014-api-tokens': apiTokens(isPostgres),
    '015-identities': identities(isPostgres),
    '016-removed-container-id': removedContainerId,
    '017-parameters': parameters,
    '018-groups': groups(isPostgres),
    '019-container-shares': containerShares(isPostgres),
    '020-nodes': nodes(isPostgres),
    '021-audit-personal-facts': auditPersonalFacts,
    '022-group-timetables': groupTimetables,
    '023-usage': usage(isPostgres),
    '024-measured-usage': measuredUsage,
    '025-looks': looks(isPostgres),
    '026-term-ends': termEnds(isPostgres),
    '027-node-protocol': nodeProtocol(isPostgres),
    '028-usage-of-subjects': usageOfSubjects,
    '029-group-blocks': groupBlocks(isPostgres),
  }
}
