/** Argument of an API process that is loaded while another one serves; an older version ignores it. */
export const replacementArgument = 'replaces'
