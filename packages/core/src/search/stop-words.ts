/**
 * English words without meaning for a search. They are removed from queries but indexed, so that a query of nothing
 * else (`how to`) still finds matches.
 */
export const stopWords: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by ' +
    'can could did do does doing done down during each else etc few for from further get gets had has have having he ' +
    'her here hers him his how i if in into is it its itself just let lets like may me might more most much must my ' +
    'need needs no nor not now of off on once only or other our ours out over own per please s same she should so some ' +
    'such t than that the their theirs them then there these they this those through to too under until up upon us use ' +
    'used user users uses using very via want wants was we were what when where which while who whom whose why will ' +
    'with within without would you your yours'
  ).split(' '),
)
