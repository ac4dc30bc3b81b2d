"""Steps carried out: the runner, the scheduler, one step built or taken over."""
