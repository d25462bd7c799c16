// Package certificate verifies claims about the optimum of a batch, and about how many requests a cluster can accept.
// A [Certificate] holds a schedule and a [Witness], which proves that no schedule is shorter. The referee of package
// schedule judges the schedule. An [Acceptance] holds prices. The package shares no code with the solvers and bounds
// that make the claims. It computes in the plainest way, however long that takes: to trust a certified optimum, a
// reader needs to read only this package and the referee.
//
// # What a bound claims
//
// A bound of b s claims that no schedule ends before H = (1 - 1e-9) b s. The slack is for the makespans and bounds
// that others compute with rounding; the verification has no tolerance of its own. It takes all times, prices and
// weights as the rational numbers that they are, computes in whole numbers, and compares strictly. The claim is about
// schedules in which every run and operation takes exactly its time. The referee lets each begin and end early by its
// resolution (schedule/tolerance.go), 4 ns. So it may accept a schedule with k of them in a row that ends 8 k ns before
// H. That is more than the slack if H is less than 8 k s.
//
// Area and slice weights use numbers of any length, without rounding. Chains, chain orders and searches use units
// ([ruler]). H is more than 2^118 units, so that times from 1e-6 s on are whole numbers of units if H is less than
// 2^46 s. Other times are rounded down, which is safe: no sum of rounded times exceeds the sum of the times. H is
// rounded up to units; a whole number of units is below H exactly if it is below H rounded up. Times become cells and
// prices become units by rounding down as well, and the proof below says why that is valid.
//
// # Instances and nodes
//
// All proofs hold for every reconfiguration model and release times, unless they say otherwise. They use the following.
// An instance is present from the start of its create, or from time 0 if it exists at the start, to the end of its
// destroy. Instances that are present on a GPU at the same time share no memory slice. Profiles with double memory or
// media extensions cover the slice on which a standard profile of the same size could begin at the same cost. So each
// instance corresponds to a node v of [mig.GPU.Tree], of size |v|. Task i takes t_i(s) on size s, create(s) and
// destroy(s) are the model's times, 0 under [mig.Free], and M is the makespan of some schedule.
//
// # Area
//
// Let a GPU have K compute slices, and S be the sizes of the instances on which the tasks of the schedule run. Then K
// GPUs M is at least
//
//	sum_i min_{s in S} s t_i(s) + sum_{s in S, not at start} s create(s) + min_U sum_{s in S minus U} s destroy(s),
//
// where "at start" means that an instance of size s exists then, and U is any set of sizes that partitions, one on each
// GPU, hold together. PROVEN: the sizes of the instances that are present at an instant add up to at most K on each
// GPU. Integrated over [0, M], the sum of size times time present is at most K GPUs M. That time contains the tasks,
// which run one at a time; a create of each s in S of which no instance exists at the start; and a destroy of each s
// in S of which no instance is present just before M. The instances present then, even if half destroyed, belong to
// one partition on each GPU, so their sizes lie in some U. The verification takes the least over all S. The parts of
// a task that can be stopped need no fewer slice-seconds than the best of their sizes. The other proofs assume that a
// task runs once, and that GPUs are empty at the start.
//
// # Slice weights
//
// Let w >= 0 be weights of the compute slices, and w(v) the sum over the slices that v covers. If
//
//	GPUs sum over slices l of w_l max(0, H - dead(l)) < sum_i min_v w(v) t_i(|v|),
//
// then M >= H. dead(l) is the earliest instant at which a task can run on a node that covers l: the end of the shortest
// create. PROVEN: at any instant the tasks on a GPU run on disjoint nodes, which cover only slices l with dead(l) past.
// So the sum of their w(v) is at most the sum of w_l over those slices. Integrated from 0 to M, the left side with M
// for H is at least the right side. With a threshold of T >= b, the options that cannot end before (1 - 1e-9) T are
// left out, from the minimum and from dead. PROVEN: if M < H, each task ends before H <= (1 - 1e-9) T, hence on an
// option that is not left out. If a task has no option, M < H is impossible.
//
// # Chains
//
// Let an assignment say on which node of which GPU each task runs. A node is used if it runs a task. M is at least the
// least, over all assignments, of the greatest L(root) of a GPU with used nodes, where
//
//	L(v) = own(v) + below(v)
//	own(v) = create(|v|) + load(v), plus gone(|v|) if an ancestor is used, too; 0 if v is not used
//	below(v) = L of its child; of two children the greater x of their L, or
//	           max(x, y + delay(v)) with y the lesser if nodes are used under both; 0 without children
//
// and load(v) is the sum of t_i(|v|) over the tasks on v. gone(s) is the least destroy of all sizes from s on. Under
// [mig.Sequential] delay(v) is the least create(s) over the sizes s of the nodes below v that fit some task; otherwise
// it is 0.
//
// PROVEN: a life is the time in which an instance is present. No two lives on nodes that cover a slice l overlap. Of
// each used node take the last life in which tasks run. It begins with a create. Each of these lives except the latest
// is followed by another in which a task ends by M, so it ends with a destroy by M. The tasks run in these and earlier
// lives of their nodes. So the creates and loads of all used nodes that cover l, and all their destroys except one, fit
// into [0, M] without overlap. gone(s) grows with s, so at worst that is the destroy of the topmost used node, which is
// not counted.
//
// For the delays, let nodes be used under both children of v. Let the head of a child be the first create of a life
// with tasks in its subtree. One operation runs at a time, so the head of one child, say X, ends before the head of the
// other, Y, begins. While it runs, lives with tasks in the subtree of Y have not begun, and v and its ancestors share
// slices with the head's node, so they are not present. So every chain that passes Y is longer by delay(v), or in the
// other case every chain that passes X; max(x, y + delay(v)) is the lesser. The delays of several levels are different
// operations, which cannot run at the same time, so they add up.
//
// For one GPU the same argument extends to more than two heads ([order]). Let the heads of v be the topmost used nodes
// below it, and wait = delay(root). For the root and every used node,
//
//	below(v) = the least, over all orders of the heads of v, of the greatest L(j-th head) + (j-1) wait.
//
// PROVEN: the subtree of each head begins with the create of a life in which tasks run. Order the heads by these
// creates. The first j-1 creates end before the j-th begins. Meanwhile no part of a chain takes place on the slices of
// the j-th head, as above. The waits within L of a head are for creates below it, the others for creates outside.
//
// # Chain orders
//
// On one GPU that runs one operation at a time, M is at least the least H(all, last) over all assignments, where "all"
// is above the root, so that its heads are the topmost used nodes, and
//
//	L(v, gone) = create(|v|) + load(v) + gone(|v|) + max(H(v, gone), W(v))
//	L(v, last) = min(create(|v|) + load(v) + gone(|v|) + H(v, last), create(|v|) + load(v) + max(H(v, gone), W(v)))
//	H(v, k) = the least, over all orders of the heads of v, of the greatest L(h, k) + sum of c(g) over g before h
//	W(v) = the greatest, over any two heads g and h of v, of the least of max(L(g, gone) + x, L(h, gone) + y) for
//	       (x, y) = (0, c(g) + away), (away, c(g)), (c(h), away) and (c(h) + away, 0)
//
// and L(v, last) = create(|v|) + load(v) without heads. c(h) is the least create of h and the used nodes below it, away
// the least gone(s) over the sizes that fit some task. PROVEN: take the lives as above. L(v, gone) is for a node whose
// life, and the lives below it, end with a destroy that counts. Under L(v, last) the last life on a slice need not. If
// a life below v comes after the life of v, the life of v ends with a destroy, which gives the first term. Otherwise
// all lives below v end before the life of v begins, which gives the second. A head waits for the first creates of the
// heads before it, as above; each is a create of a used node of that head, which may belong to an earlier life than the
// last one. That gives H. L(h, last) is at most L(h, gone), so the first term also covers heads below v whose lives all
// come before the life of v. In W, all lives below v end
// with a destroy. Of two heads, one begins first, for which the other waits, and one ends last. While its last destroy
// runs, no part of a chain takes place on the slices of the other: the lives there have ended, and v and its ancestors
// are not present. So the chain of the other is longer by that destroy. All these operations are different.
//
// # Task prices
//
// Let task i have a price p_i >= 0. H is divided into n cells, and a time t takes c(t) = floor(n t / H) of them. Let
// earn(s, c) be the most that different tasks can earn on one instance of size s in c cells, and net(v, c) the most
// that the tasks on v and below it can earn if the chains of the section on chains, in cells, are at most c. If GPUs
// net(root, n - 1) < sum_i p_i, then M >= H. PROVEN: if M < H, the parts of each chain add up to less than H. Rounded
// down they take less than n cells, hence n - 1 at most. The tasks on a node take part of its chains and are different,
// so they earn at most earn of these cells. So the tasks of a GPU earn net(root, n - 1) at most, and all of them less
// than the sum of their prices. A task may earn its price on several nodes, which only raises net. Any prices are
// valid. So tiny prices may be rounded down to units, in net and in the sum.
//
// # Search
//
// On one GPU without release times, everything in a schedule can happen as early as the order of its operations allows,
// and then no instant is later. A search tries all orders. It skips instances that run no task, a situation in which no
// instant is earlier than in one already tried, and situations that cannot end before H: a remaining task ends too late
// wherever it runs, or the slices have less time until H than the remaining tasks need. All times are rounded down, and
// with shorter times no optimum is longer.
//
// # Accepted requests
//
// [AcceptedAtMost] has the proof. It uses whole numbers only.
package certificate
