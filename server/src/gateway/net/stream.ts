/** Something open that can be forbidden at any moment: a request under way or a WebSocket. */
export interface Stream {
  /** Whose token opened it; undefined for public visitors. */
  readonly caller: { readonly jti: string; readonly userId: number; readonly expiresAt: number } | undefined
  /** Ends both sides at once, without a word. */
  cut(): void
}
