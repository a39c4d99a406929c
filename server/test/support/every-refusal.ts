import { bytesInWords } from '#/containers/bytes-in-words.ts'
import { refusals, type Refusal } from '#/errors.ts'
import { message } from '#/messages/message.ts'

const cause = new Error('the cause')
const at = new Date('2026-01-02T03:04:05Z')

/** One of each refusal there is, by its name; a new one does not compile until it stands here. */
export const everyRefusal: Readonly<Record<keyof typeof refusals, Refusal>> = {
  missingBody: refusals.missingBody(),
  notJson: refusals.notJson(),
  badRequest: refusals.badRequest(message('requests.badLimit', { most: 1000 })),
  missingEmail: refusals.missingEmail(),
  badEmail: refusals.badEmail(),
  missingToken: refusals.missingToken(),
  badToken: refusals.badToken(),
  prefetched: refusals.prefetched(),
  unknownType: refusals.unknownType(['dev', 'prod']),
  noToken: refusals.noToken(),
  invalidToken: refusals.invalidToken(),
  userBlocked: refusals.userBlocked(),
  notVerified: refusals.notVerified(),
  containerBlocked: refusals.containerBlocked(at),
  userBlockedFromContainers: refusals.userBlockedFromContainers(null),
  tossedTokens: refusals.tossedTokens(['a=; Max-Age=0']),
  takenOver: refusals.takenOver(),
  notAdministrator: refusals.notAdministrator(),
  forgeable: refusals.forgeable(),
  userGone: refusals.userGone(),
  notFound: refusals.notFound('user'),
  wrongMethod: refusals.wrongMethod(['GET', 'POST']),
  conflict: refusals.conflict(message('requests.lastInCharge')),
  tooLarge: refusals.tooLarge(65_536),
  tooManyLinks: refusals.tooManyLinks(3, 60),
  tooManyRequests: refusals.tooManyRequests(60, 60),
  tooManyStreams: refusals.tooManyStreams(),
  stopFailed: refusals.stopFailed(cause),
  logsFailed: refusals.logsFailed(cause),
  storeFailed: refusals.storeFailed(cause),
  mailFailed: refusals.mailFailed(cause),
  launchFailed: refusals.launchFailed(cause),
  containerDeleted: refusals.containerDeleted(),
  launchStopped: refusals.launchStopped(),
  restartFailed: refusals.restartFailed(cause),
  launchGoesOn: refusals.launchGoesOn(message('launches.waits', { place: 3, waiting: 9 })),
  tooManyOfYours: refusals.tooManyOfYours(2),
  serverFull: refusals.serverFull(),
  tooManyLaunches: refusals.tooManyLaunches(),
  diskFull: refusals.diskFull(bytesInWords(1.5 * 1024 ** 3), bytesInWords(1024 ** 3), 'Development'),
  endsAgain: refusals.endsAgain(),
  auditTooLong: refusals.auditTooLong(20),
  stopping: refusals.stopping(),
}
