/**
 * Entry of the revocation list for a session that a block ended. Its tokens are answered until they expire, so that they
 * explain the block, but nothing that outlives a request is opened or made with them, also after the unblock. The id of
 * no token and of no session has a blank. `endBlockedSessions` stores such entries.
 */
export const endedSession = (sid: string) => `ended ${sid}`
