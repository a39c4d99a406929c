/** Words for who acts for somebody, and for whom somebody acts. */
export const takeover = {
  label: 'You act for somebody else',
  /** Somebody whose address is still being looked up. */
  somebody: 'another user',
  acting: 'You act for <b>{whom}</b>, and they are told.',
  left: 'It ends in {time}.',
  minutesLeft:
    '{minutes, plural, one {You act for {whom} for one more minute.} other {You act for {whom} for # more minutes.}}',
  end: 'End',
  ending: 'Ending…',
  note: '<b>{by}</b> acts for you until {until}. Their reason: {reason}',
  noteLink: 'See it, or end it',
} as const
