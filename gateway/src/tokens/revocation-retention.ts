/**
 * How long a revocation is kept after the expiry of its token, in ms: if the clock is wrong at that moment and set back by a
 * day later, the token must not be valid again.
 */
export const revocationRetention = 2 * 86_400_000
