module costs

go 1.19

require rowbloom v0.1.0

replace rowbloom => ../../../bindings/go
